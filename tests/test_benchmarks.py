"""What the benchmarks say is what was measured."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from benchmarks.__main__ import chosen, parsed
from benchmarks.entries import ENTRIES
from benchmarks.entry import Line, at_least, at_most, not_measured, share_of, within
from benchmarks.measure import Figures, jain
from benchmarks.page import PAGE, RECORDED, page, read
from benchmarks.peers import SYSTEMS
from benchmarks.peers.marks import Marks
from benchmarks.peers.shape import by_tasks, by_threads

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"


def test_jain_is_one_for_equals_and_one_nth_for_a_monopoly() -> None:
    assert jain([3, 3, 3, 3]) == pytest.approx(1)
    assert jain([8, 0, 0, 0]) == pytest.approx(1 / 4)


def test_a_ratio_is_of_the_same_repetition() -> None:
    """A slow minute slows both halves: the ratio of the medians would be 2."""
    line = share_of("x", "/s", [10, 100, 20], [20, 10, 40], 0.5)
    assert line.ratio == 0.5
    assert line.met is True


def test_goals_are_judged_by_the_median() -> None:
    assert at_most("x", "ms", [1, 9, 2], 5).met is True
    assert at_least("x", "", [1, 9, 2], 5).met is False
    assert within("x", "ms", [1.2], [1.0], 1.15).met is False


def test_a_line_survives_its_file() -> None:
    for line in (share_of("x", "/s", [1, 2], [3, 4], 0.5, "someone"), not_measured("y", "why")):
        again = Line.of_json(json.loads(json.dumps(line.as_json())))
        assert again.as_json() == line.as_json()


def test_the_page_shows_what_was_reached_and_what_was_missed() -> None:
    machine = {
        "at": "2030-01-01T00:00:00", "commit": "abc", "processor": "p", "cores": 2, "memory_gb": 1,
        "load_before": 0.0, "load_after": 1.0, "system": "s", "python": "3", "asyncpg": "1",
        "postgresql": "18", "settings": {"fsync": "on"}, "peers": {"some": "1.2"},
    }  # fmt: skip
    lines = [
        Line("backlog, 1 process: items", "/s", Figures([900]), Figures([100]), against="Some"),
        Line("backlog, 1 process: jobs", "/s", Figures([50]), Figures([100]), against="Some"),
        at_most("dispatch p50, from the commit", "ms", [8.0], 6),
        not_measured("Other", "not installed"),
    ]
    run = {"machine": machine, "seconds": 1, "quick": False}
    text = page({"peers": {**run, "lines": [line.as_json() for line in lines]}})
    assert "Versions: some 1.2." in text
    assert "| Some | 100 (9.00 · 0.50) |" in text
    assert "| Other | not measured: not installed |" in text
    assert "| `peers` | dispatch p50, from the commit | 8 ms | ≤ 6 ms | **missed** |" in text


@pytest.mark.skipif(not RECORDED.exists(), reason="no run was recorded yet")
def test_the_page_is_that_of_the_recorded_run() -> None:
    assert PAGE.read_text("utf-8") == page(read()), "run python -m benchmarks.page"


def test_entries_have_a_title_and_say_what_they_compare() -> None:
    assert all(entry.title and entry.about for entry in ENTRIES)


def test_every_name_after_only_is_measured() -> None:
    asked = parsed(["--quick", "--only", "noop", "--only", "api"])
    assert [entry.name for entry in chosen(asked.only)] == ["noop", "api"]
    assert chosen(parsed([]).only) == list(ENTRIES)


@pytest.mark.parametrize("only", ["noop", "noop api", "api  growth noop"])
def test_make_bench_runs_every_name_in_only(only: str) -> None:
    shown = subprocess.run(
        ["make", "--no-print-directory", "-n", "bench", f"ONLY={only}"],
        cwd=PEERS.parents[1], capture_output=True, text=True, check=True,
    )  # fmt: skip
    command = shown.stdout.partition("-m benchmarks")[2].replace("\\\n", " ")
    assert parsed(command.split()).only == only.split()


def test_every_peer_is_pinned_without_an_address() -> None:
    pinned = (PEERS / "requirements.txt").read_text("utf-8")
    assert "://" not in pinned
    for system in SYSTEMS:
        assert (PEERS / f"{system.module}.py").exists()
        assert f"\n{system.module}==" in pinned


def test_marks_are_seen_through_the_file(tmp_path: Path) -> None:
    marks = Marks.create(tmp_path / "marks", 3)
    other = Marks(tmp_path / "marks")
    other.mark(0)
    assert not marks.all_begun(0, 2)
    other.mark(1)
    assert marks.all_begun(0, 2)
    assert 0 < marks.time_of(0) <= marks.time_of(1)
    assert not marks.all_begun(0, 3)


def test_clients_send_every_number_once() -> None:
    sent: list[int] = []

    async def send(number: int) -> None:
        await asyncio.sleep(0)
        sent.append(number)

    by_threads(sent.append, range(100), 8)
    asyncio.run(by_tasks(send, range(100, 200), 8))
    assert sorted(sent) == list(range(200))
