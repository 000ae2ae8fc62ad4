"""Penstock and other queues: the same machine, the same minutes, the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from benchmarks.entries.dispatch_latency import dispatch
from benchmarks.entries.noop import ours as items_per_second
from benchmarks.entries.tiny_jobs import backlog, live
from benchmarks.entry import Entry, Line, Scale, at_least, not_measured, share_of
from benchmarks.lab import Lab
from benchmarks.measure import Figures, percentile
from benchmarks.peer_lab import NotMeasured, PeerLab, open_peers
from benchmarks.peers import SYSTEMS, System

_BATCHES = "PgQueuer"
ABOUT = """\
Every queue as its own documentation advises, see the notes at the top of each file in
`benchmarks/peers`. Redis keeps an append-only file flushed every second; PostgreSQL is our embedded
server for all of them, `fsync` and `synchronous_commit` on. The peers' jobs carry a number and
store no result. Penstock's items carry 400 bytes of input and store 600 bytes of result, counters,
events and virtual time; a one-item job is a whole job, with its stages and its three events.

A backlog is there before the (warm) workers are let go. *Submit to done*: eight clients of one
process submit one by one while two worker processes work. *Dispatch*: from the call of submit to
the begin of the handler, one idle worker process, one job at a time."""


@dataclass
class Found:
    """One system's figures, a value for each repetition."""

    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def add_latencies(self, name: str, found: Sequence[float]) -> None:
        for share in (50, 95):
            self.add(f"{name} p{share}", percentile(found, share / 100))


async def penstock(lab: Lab, scale: Scale, found: Found) -> None:
    items, jobs, samples = scale.of(50_000, 5_000), scale.of(3_000, 300), scale.of(60, 20)
    for processes in (1, 2):
        found.add(f"items {processes}", await items_per_second(lab, items, processes))
    async with lab.bench() as bench:
        found.add("live 2", await live(bench, jobs))
        found.add("jobs 2", await backlog(bench, jobs, 2))
    async with lab.bench() as bench:
        found.add("jobs 1", await backlog(bench, jobs // 2, 1))
        waits = await dispatch(bench, samples)
    found.add_latencies("dispatch", waits.from_call)


async def peer(peers: PeerLab, system: System, scale: Scale, found: Found) -> None:
    share = 20 if scale.quick else 1
    figures = await peers.measure(
        system, jobs=max(system.jobs // share, 20), live=system.live // share,
        samples=scale.of(60, 10),
    )  # fmt: skip
    for processes in (1, 2):
        found.add(f"jobs {processes}", figures[f"backlog {processes}"])
    if "live" in figures:
        found.add("live 2", figures["live"])
        found.add_latencies("dispatch", figures["dispatch"])


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    ours, theirs = Found(), {system.name: Found() for system in SYSTEMS}
    reasons: dict[str, str] = {}
    async with open_peers(lab) as peers:
        reasons = {system.name: why for system in SYSTEMS if (why := peers.reason(system))}
        for _ in range(scale.of(scale.repetitions, 1)):
            await penstock(lab, scale, ours)
            for system in SYSTEMS:
                if system.name in reasons:
                    continue
                try:
                    await peer(peers, system, scale, theirs[system.name])
                except NotMeasured as error:
                    reasons[system.name] = str(error)
    skipped = [not_measured(name, why) for name, why in reasons.items()]
    measured = {name: one for name, one in theirs.items() if name not in reasons}
    return [*lines(ours.values, {name: one.values for name, one in measured.items()}), *skipped]


def lines(ours: dict[str, list[float]], theirs: dict[str, dict[str, list[float]]]) -> list[Line]:
    out = []
    for processes in (1, 2):
        name = f"backlog, {_counted(processes)}"
        for peer_name, found in theirs.items():
            jobs = found[f"jobs {processes}"]
            out.append(_against(f"{name}: items", ours[f"items {processes}"], jobs, peer_name))
            out.append(_against(f"{name}: jobs", ours[f"jobs {processes}"], jobs, peer_name))
    out += [
        _against("submit to done: jobs", ours["live 2"], found["live 2"], peer_name, ahead=True)
        for peer_name, found in theirs.items() if "live 2" in found
    ]  # fmt: skip
    for share in (50, 95):
        out += [
            Line(f"dispatch p{share}", "ms", Figures(ours[f"dispatch p{share}"]),
                 Figures(found[f"dispatch p{share}"]), against=peer_name)
            for peer_name, found in theirs.items() if f"dispatch p{share}" in found
        ]  # fmt: skip
    return [*out, *_goals(ours, theirs)]


def _counted(processes: int) -> str:
    return f"{processes} process{'es' * (processes > 1)}"


def _against(
    name: str, ours: list[float], theirs: list[float], against: str, *, ahead: bool = False
) -> Line:
    line = Line(name, "/s", Figures(ours), Figures(theirs), against=against)
    return replace(line, goal="ahead", met=(line.ratio or 0) > 1) if ahead else line


def _goals(ours: dict[str, list[float]], theirs: dict[str, dict[str, list[float]]]) -> list[Line]:
    batches = [found["jobs 2"] for name, found in theirs.items() if name.startswith(_BATCHES)]
    out = []
    if batches:
        best = max(batches, key=lambda values: Figures(values).median)
        out.append(
            share_of("items, 2 processes", "/s", ours["items 2"], best, 1.2, "PgQueuer's best")
        )
    out.append(at_least("one-item jobs, submit to done", "/s", ours["live 2"], 4200))
    beside = theirs.get(_BATCHES, {})
    if "live 2" in beside:
        out.append(
            share_of("one-item jobs, submit to done, against PgQueuer", "/s", ours["live 2"],
                     beside["live 2"], 1.2, _BATCHES)
        )  # fmt: skip
        out += [_no_later(share, ours, beside) for share in (50, 95)]
    return out


def _no_later(share: int, ours: dict[str, list[float]], beside: dict[str, list[float]]) -> Line:
    name = f"dispatch p{share}"
    line = Line(f"idle {name}, against PgQueuer", "ms", Figures(ours[name]), Figures(beside[name]),
                against=_BATCHES)  # fmt: skip
    return replace(line, goal="≤ it", met=(line.ratio or 0) <= 1)


ENTRY = Entry("peers", run, "Against other queues", ABOUT)
