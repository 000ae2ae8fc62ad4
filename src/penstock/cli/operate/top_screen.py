"""The screen of `penstock top`: four tables, drawn with rich."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

_COLOURS = {
    "healthy": "green",
    "degraded": "yellow",
    "critical": "red",
    "unhealthy": "red",
    "overload": "bold red",
}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The reader closed the pipe: the command ends with 0, where rich would end it with 1."""
        raise BrokenPipeError


class Screen:
    """Redrawn in place at a terminal, else printed one after the other."""

    def __init__(self, *, live: bool) -> None:
        # In a pipe no column is cut off.
        self._console = _Console() if live else _Console(width=_width(), highlight=False)
        self._live = Live(console=self._console, screen=True, auto_refresh=False) if live else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, view: dict[str, Any]) -> None:
        drawn = Group(*_drawn(view))
        if self._live is not None:
            self._live.update(drawn, refresh=True)
        else:
            self._console.print(drawn)


def _width() -> int | None:
    found = Console()
    return None if found.is_terminal else 160


def _drawn(view: dict[str, Any]) -> Iterator[Any]:
    if view.get("health") is not None:
        yield _health(view["health"])
    yield _summary(view["queue"])
    yield _table(
        "WORKERS",
        ("worker", "slots", "cpu", "memory", "items/s", "rows/s", "claims/s", "claim", "errors",
         "retries", "lost", "db ms"),
        [_worker(one) for one in view["workers"]],
    )  # fmt: skip
    yield _table(
        "ORGS",
        ("org", "plan", "share", "slices", "items", "ahead"),
        [
            (one["org"], one["plan"], f"{one['share']:.0%}", one["slices"], one["items"],
             duration(one["aheadMs"]))
            for one in view["orgs"]
        ],
    )  # fmt: skip
    yield _table(
        "JOBS",
        ("job", "name", "org", "stage", "slices", "items", "ms/item", "done", "%", "left"),
        [_job(one) for one in view["jobs"]],
    )


def _health(health: dict[str, Any]) -> Text:
    line = Text("health    ")
    line.append(health["status"], _COLOURS[health["status"]])
    line.append("   " + (" ".join(health["problems"]) or "all checks pass"))
    return line


def _summary(queue: dict[str, Any]) -> Text:
    slices = queue["slices"]
    line = Text("penstock  ")
    line.append(queue["level"], _COLOURS[queue["level"]])
    line.append(
        f"   depth {queue['depth']:,}   waiting {queue['waiting']:,}   active {queue['active']:,}"
        f"   delayed {queue['delayed']:,}   oldest {duration(queue['oldestWaitingMs'])}"
        f"   dead letters {queue['deadLetters']:,}\n"
        f"{queue['itemsPerSecond']:,.1f} items/s   {queue['rowsPerSecond']:,.1f} rows/s   "
        f"{sum(slices.values())} of {queue['slots']} slots on {queue['workers']} workers "
        f"({', '.join(f'{kind} {count}' for kind, count in slices.items())})"
    )
    return line


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold")
    for place, name in enumerate(head):
        first = place == 0
        table.add_column(
            f"{title} {name}" if first else name,
            no_wrap=True,
            justify="left" if first or name in _WORDS else "right",
        )
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    if not rows:
        table.add_row(Text("none", style="dim"))
    return table


_WORDS = frozenset({"plan", "name", "org", "stage"})


def _worker(worker: dict[str, Any]) -> tuple[Any, ...]:
    figures = worker["figures"]
    if not figures:
        return (worker["id"], f"-/{worker['slots']}", *[None] * 10)
    totals, stages = figures["totals"], figures["stages"]
    return (
        worker["id"],
        f"{figures['busy']}/{figures['slots']}",
        f"{figures['cpuShare']:.0%}",
        f"{figures['rssBytes'] / 2**20:,.0f} MiB",
        f"{figures['itemsPerSecond']:,.1f}",
        f"{figures['rowsPerSecond']:,.1f}",
        f"{figures['claimsPerSecond']:,.1f}",
        f"{figures['claimFactor']:.0%}",
        f"{max((one['errorShare'] for one in stages), default=0):.0%}",
        f"{totals['retried']:,}",
        f"{totals['leasesLost']:,}",
        f"{figures['ingest']['dbLatencyMs']:,.1f}",
    )


def _job(job: dict[str, Any]) -> tuple[Any, ...]:
    return (
        job["id"],
        job["name"][:30],
        job["org"],
        job["stage"],
        job["slices"],
        f"{job['items']:,}",
        None if job["itemMs"] is None else f"{job['itemMs']:,.2f}",
        f"{job['rowsDone']:,}/{job['rowsTotal']:,}",
        f"{job['percent']:.0f}",
        duration(job["estimatedRemainingMs"]),
    )


def duration(ms: int | None) -> str:
    """A duration in a few characters."""
    if ms is None:
        return "?"
    seconds = ms / 1000
    if seconds < 1:
        return f"{ms} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{seconds:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m"
