"""How long the tests of each folder take: `python -m tests.times [build/tests.xml] [--record]`.

Reads the report that `make test` writes. With ``--record`` the table goes into CONTRIBUTING.md,
and the seconds of each file into `times.json`, by which a run begins with the longest files.
"""

from __future__ import annotations

import argparse
import json
import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "tests.xml"
PAGE = ROOT / "CONTRIBUTING.md"
RECORD = Path(__file__).with_name("times.json")
_TOGETHER = ("tests/browser/",)
_BEGIN, _END = "<!-- times -->\n", "<!-- /times -->\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One test as the report has it."""

    file: str
    name: str
    seconds: float


def read_report(path: Path) -> list[Case]:
    # Written by our own pytest.
    cases = ET.parse(path).iter("testcase")
    return [
        Case(file_of(one.attrib["classname"]), one.attrib["name"], float(one.attrib["time"]))
        for one in cases
    ]


def file_of(dotted: str) -> str:
    """`tests.api.test_jobs`, or the name of a class in it."""
    parts = dotted.split(".")
    while parts[-1][:1].isupper():
        parts.pop()
    return f"{'/'.join(parts)}.py"


def folder_of(file: str) -> str:
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def table(cases: Iterable[Case]) -> str:
    """By folder, the longest first: tests, seconds, and the slowest test."""
    folders: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        folders[folder_of(case.file)].append(case)
    rows = []
    for folder, members in folders.items():
        slowest = max(members, key=lambda case: case.seconds)
        rows.append((sum(case.seconds for case in members), folder, len(members), slowest.seconds))
    rows.sort(key=lambda row: (-round(row[0]), row[1]))
    lines = ["| folder | tests | seconds | slowest test |", "|---|---:|---:|---:|"]
    lines += [f"| `{folder}` | {count} | {seconds:.0f} | {slowest:.1f} |"
              for seconds, folder, count, slowest in rows]  # fmt: skip
    total = sum(row[0] for row in rows)
    lines.append(f"| all | {sum(row[2] for row in rows)} | {total:.0f} | |")
    return "\n".join(lines) + "\n"


def by_file(cases: Iterable[Case]) -> dict[str, float]:
    """Seconds of each file that takes more than one."""
    files: defaultdict[str, float] = defaultdict(float)
    for case in cases:
        files[case.file] += case.seconds
    return {file: round(seconds, 1) for file, seconds in sorted(files.items()) if seconds > 1}


def recorded() -> dict[str, float]:
    times: dict[str, float] = json.loads(RECORD.read_text("utf-8"))
    return times


def longest_first(file: str, times: Mapping[str, float]) -> tuple[float, str]:
    """A sort key: a long file begun last would leave the other processes without work. Files that
    share a running installation stay together."""
    shared = file.rpartition("/")[0] + "/"
    if shared in _TOGETHER:
        return -sum(times[one] for one in times if one.startswith(shared)), file
    return -times.get(file, 0.0), file


def with_table(page: str, made: str) -> str:
    pattern = re.compile(re.escape(_BEGIN) + ".*?" + re.escape(_END), re.DOTALL)
    found, count = pattern.subn(lambda _: f"{_BEGIN}{made}{_END}", page)
    assert count == 1, "CONTRIBUTING.md has no place for the table"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.times", description=__doc__)
    parser.add_argument("report", type=Path, nargs="?", default=REPORT)
    parser.add_argument(
        "--record", action="store_true", help="write CONTRIBUTING.md and times.json"
    )
    asked = parser.parse_args()
    cases = read_report(asked.report)
    print(table(cases), end="")
    if asked.record:
        PAGE.write_text(with_table(PAGE.read_text("utf-8"), table(cases)), encoding="utf-8")
        RECORD.write_text(json.dumps(by_file(cases), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
