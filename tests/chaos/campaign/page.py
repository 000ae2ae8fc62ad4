"""The part of docs/reliability.md that a recorded campaign fills in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.chaos.campaign.plan import Fault

_DOCS = Path(__file__).resolve().parents[3] / "docs"
RECORDED = _DOCS / "reliability.json"
PAGE = _DOCS / "reliability.md"
BEGIN = "<!-- The next lines are written by `python -m tests.chaos.campaign --record`. -->"
END = "<!-- The lines before are written by the campaign. -->"
_NAMES = {"shortLeases": "1.5–3 s", "defaultLeases": "15–30 s (default)"}


def record(found: Mapping[str, Any]) -> None:
    RECORDED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text("utf-8"), found), encoding="utf-8")


def filled(page: str, found: Mapping[str, Any]) -> str:
    """The page with these figures in the place of older ones."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n" + "\n".join(_lines(found)) + f"\n\n{END}{tail}"


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    machine, items = found["machine"], found["items"]
    yield (
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_gb']:g} GB, Python "
        f"{machine['python']}, PostgreSQL {machine['postgresql'].split()[0]}; seed "
        f"{found['plan']['seed']}; faults for {found['faultSeconds'] / 60:.0f} minutes, one every "
        f"{found['faultSeconds'] / sum(found['injected'].values()):.1f} s."
    )
    yield ""
    yield "| fault | times |"
    yield "|---|---:|"
    for fault in Fault:
        yield f"| {fault.value} | {found['injected'].get(fault.value, 0)} |"
    yield f"| worker dead of a poison item | {found['diedOfPoison']} |"
    yield ""
    yield "| what came of it | |"
    yield "|---|---:|"
    yield f"| jobs submitted | {sum(found['jobs'].values()):,} |"
    yield f"| items ended | {items['ended']:,} |"
    yield f"| items lost | {found['lost']} |"
    yield f"| results written twice | {found['doubled']} |"
    late = found["staleWrites"]
    yield f"| late writes tried / written | {late['refused']:,} / {late['written']} |"
    yield f"| items begun again after a crash | {items['repeated']:,} |"
    yield f"| snapshots in which counters were not their items | 0 of {found['snapshots']:,} |"
    yield f"| submits without an answer, asked again with their key | {found['askedAgain']:,} |"
    yield f"| violations of an invariant | {len(found['violations'])} |"
    yield f"| everything ended after the last fault | {found['drainedSeconds']:.0f} s |"
    yield f"| PostgreSQL back after a kill, p50 / max | {_spread(found['serverBackSeconds'])} |"
    yield ""
    yield "Seconds from a lease's last heartbeat until it is taken back, and until a worker has"
    yield "its items again (in the first row behind a queue that is always full):"
    yield ""
    yield "| lease | lost leases | taken back: p50 | p99 | max | claimed again: p50 | p99 | max |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for kind, spreads in found["recoverySeconds"].items():
        if spreads:
            both = (spreads["taken_back"], spreads["claimed_again"])
            figures = (f"{one[name]:.1f}" for one in both for name in ("p50", "p99", "max"))
            yield f"| {_NAMES[kind]} | {both[0]['count']:,} | " + " | ".join(figures) + " |"
    yield ""
    before, after = found["footprint"]["before"], found["footprint"]["after"]
    yield "A worker that lived through all of it, idle before and after:"
    yield ""
    yield "| | memory | open files | threads | connections | half-made files |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, foot in (("before", before), ("after", after)):
        yield (
            f"| {name} | {foot['memory_mb']:.0f} MB | {foot['files']} | {foot['threads']} |"
            f" {foot['connections']} | {foot['half_made_blobs']} |"
        )


def _spread(spread: Mapping[str, float]) -> str:
    return f"{spread['p50']:.1f} / {spread['max']:.1f} s"
