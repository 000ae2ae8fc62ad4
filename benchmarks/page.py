"""docs/benchmarks.md, from the recorded run: `python -m benchmarks.page` writes it anew."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.entries import ENTRIES
from benchmarks.entry import Entry, Line
from benchmarks.measure import Figures

RECORDED = Path(__file__).parent / "recorded.json"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
_NOTE = "<!-- Written by `python -m benchmarks.page` from benchmarks/recorded.json. -->\n"
_MET = {True: "met", False: "**missed**", None: ""}
_INTRO = """\
# Benchmarks

What Penstock does per second, how long it makes people wait, and how that compares with other
queues and with a bare loop on the same PostgreSQL.

Absolute figures are of one small machine and tell the size of things. What counts is the ratio
between two figures of the same repetition of the same run: both ran under the same noise. Medians
of the repetitions are shown, with half their range as a share (±); smaller differences are noise.

## How to repeat it

```
make bench                 # everything, about 25 minutes; results go to benchmarks/results
make bench ONLY=peers      # one entry
make bench QUICK=1         # small sizes, a few minutes: shows that it works, not how fast
make bench RECORD=1        # … and write this page
```

The first run makes `.venv-peers` with the pinned versions of the other queues. Redis comes from
Debian: as root it is installed where it is missing, else that part says that it was left out. All
servers are private ones in a temporary folder, and are stopped at the end."""
_OUTRO = """\
## What is not compared

- Other queues' retries, schedules, workflows and dashboards, and Penstock's. The peers' jobs here
  store no result, keep no counters and no gapless events, and are not shared fairly by tenants.
- Networks: clients, servers and workers share one machine and its cores.
- Long runs: each figure is seconds to minutes long; soak tests are in `make test-long`."""


def record(found: dict[str, Any]) -> None:
    """Put the entries of a run in the place of older ones, and write the page."""
    known = read()
    known.update(found)
    order = [entry.name for entry in ENTRIES]
    kept = {name: known[name] for name in order if name in known}
    RECORDED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
    return found


def page(recorded: dict[str, Any]) -> str:
    parts = [_NOTE, _INTRO, "\n".join(_machines(recorded)), "\n".join(_goals(recorded))]
    for entry in ENTRIES:
        if entry.name in recorded:
            parts.append("\n".join(_section(entry, recorded[entry.name])))
    return "\n\n".join(part.strip() for part in [*parts, _OUTRO]) + "\n"


def _lines(entry: dict[str, Any]) -> list[Line]:
    return [Line.of_json(one) for one in entry["lines"]]


def _machines(recorded: dict[str, Any]) -> Iterator[str]:
    yield "## Where and when"
    yield ""
    yield "| entries | commit | when | load before → after |"
    yield "|---|---|---|---|"
    for name, one in recorded.items():
        machine = one["machine"]
        quick = " (quick)" if one["quick"] else ""
        load = f"{machine['load_before']:.1f} → {machine['load_after']:.1f}"
        yield f"| `{name}`{quick} | {machine['commit']} | {machine['at'][:16]} | {load} |"
    machine = next(iter(recorded.values()))["machine"]
    settings = ", ".join(f"`{name} = {value}`" for name, value in machine["settings"].items())
    yield ""
    yield (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB,"
        f" {machine['system']}; Python {machine['python']}, asyncpg {machine['asyncpg']},"
        f" PostgreSQL {machine['postgresql']} with {settings}."
    )


def _goals(recorded: dict[str, Any]) -> Iterator[str]:
    yield "## Goals"
    yield ""
    yield "| entry | what | reached | goal | |"
    yield "|---|---|---|---|---|"
    for name, one in recorded.items():
        for line in _lines(one):
            if line.met is not None and line.ours is not None:
                what = f"`{name}` | {line.name}{_versus(line)}"
                yield f"| {what} | {_reached(line)} | {line.goal} | {_MET[line.met]} |"


def _versus(line: Line) -> str:
    return f" against {line.against}" if line.against else ""


def _reached(line: Line) -> str:
    assert line.ours is not None
    value = f"{_number(line.ours.median)} {line.unit}".strip()
    return value if line.ratio is None else f"{value} ({line.ratio:.2f} ×)"


def _section(entry: Entry, found: dict[str, Any]) -> Iterator[str]:
    lines = _lines(found)
    yield f"## {entry.title or entry.name}"
    yield ""
    yield f"`make bench ONLY={entry.name}`"
    if entry.about:
        yield ""
        yield entry.about
    yield ""
    if entry.name != "peers":
        yield from _table(lines)
        return
    versions = found["machine"]["peers"].items()
    yield f"Versions: {', '.join(f'{name} {version}' for name, version in versions)}."
    yield ""
    yield from matrix(lines)


def _table(lines: Sequence[Line]) -> Iterator[str]:
    yield "| what | Penstock | baseline | ratio | goal | |"
    yield "|---|---|---|---|---|---|"
    for line in lines:
        if line.ours is None:
            yield f"| {line.name} | not measured: {line.note} | | | | |"
            continue
        base = "" if line.baseline is None else f"{_spread(line.baseline)} {line.against}".strip()
        ratio = "" if line.ratio is None else f"{line.ratio:.2f}"
        goal = "" if line.goal == "reported" else line.goal
        ours = f"{_spread(line.ours)} {line.unit}".strip()
        yield f"| {line.name} | {ours} | {base} | {ratio} | {goal} | {_MET[line.met]} |"


_COLUMNS = {
    "backlog, 1 process": "backlog, 1 process, /s",
    "backlog, 2 processes": "2 processes, /s",
    "submit to done": "submit to done, /s",
    "dispatch p50": "dispatch p50, ms",
    "dispatch p95": "p95, ms",
}


def matrix(lines: Sequence[Line]) -> Iterator[str]:
    """Systems down, questions across; in brackets Penstock's figure divided by theirs."""
    yield f"| system | {' | '.join(_COLUMNS.values())} |"
    yield f"|---|{'---|' * len(_COLUMNS)}"
    for kind in ("items", "jobs"):
        label = "items of one job" if kind == "items" else "jobs of one item"
        cells = [_ours(lines, column, kind) for column in _COLUMNS]
        yield f"| **Penstock, {label}** | {' | '.join(cells)} |"
    for system in dict.fromkeys(line.against for line in lines if line.against):
        cells = [_theirs(lines, column, system) for column in _COLUMNS]
        if any(cells):
            yield f"| {system} | {' | '.join(cells)} |"
    for line in lines:
        if line.ours is None:
            yield f"| {line.name} | not measured: {line.note} |{' |' * (len(_COLUMNS) - 1)}"
    yield ""
    yield (
        "In brackets Penstock's figure divided by theirs: of items and of one-item jobs for a"
        " backlog, of one-item jobs for submit to done. Dispatch is shorter where it is less."
    )
    yield ""
    yield from _table([line for line in lines if _is_goal(line)])


def _is_goal(line: Line) -> bool:
    named = line.name.startswith(tuple(_COLUMNS)) and bool(line.against)
    return line.ours is not None and not named


def _ours(lines: Sequence[Line], column: str, kind: str) -> str:
    for line in lines:
        wanted = column if column.startswith("dispatch") else f"{column}: {kind}"
        if line.name == wanted and line.ours is not None and (kind == "jobs" or ":" in wanted):
            return _spread(line.ours)
    return ""


def _theirs(lines: Sequence[Line], column: str, system: str) -> str:
    found = [
        line for line in lines
        if line.against == system and line.name.partition(":")[0] == column
    ]  # fmt: skip
    if not found or found[0].baseline is None:
        return ""
    ratios = " · ".join(f"{line.ratio:.2f}" for line in found if line.ratio is not None)
    return f"{_spread(found[0].baseline)} ({ratios})"


def _spread(figures: Figures) -> str:
    several = len(figures.values) > 1
    return _number(figures.median) + (f" ± {figures.spread:.0%}" if several else "")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    PAGE.write_text(page(read()), encoding="utf-8")
