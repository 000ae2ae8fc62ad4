"""All long tests, file by file: `make test-long`, or `python -m tests.long tests/chaos`.

Each file has a pytest of its own, with a PostgreSQL of its own: what one leaves behind is not met
by the next, and one that fails or hangs does not end the others.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

# Measured on two busy cores. Short ones first: most of what can fail is known within minutes.
MINUTES = {
    "tests/chaos/test_partitions.py": 1,
    "tests/chaos/test_streams.py": 1,
    "tests/api/test_s3_blobs.py": 1,
    "tests/chaos/test_kills.py": 2,
    "tests/chaos/test_zombies.py": 2,
    "tests/engine/test_prune_load.py": 2,
    "tests/guards/test_shared_limits.py": 2,
    "tests/hostile/test_files_over_http.py": 2,
    "tests/monitor/test_installation.py": 2,
    "tests/chaos/test_connections.py": 3,
    "tests/chaos/test_edits.py": 3,
    "tests/hostile/test_siege.py": 4,
    "tests/stateful/test_engine.py": 4,
    "tests/formats/test_fuzz.py": 5,
    "tests/chaos/test_research.py": 6,
    "tests/chaos/test_races.py": 7,
    "tests/api/test_schema.py": 14,
    "tests/hostile/test_bodies.py": 14,
    "tests/chaos/test_campaign.py": 18,
    "tests/chaos/test_shops.py": 90,
}
_PYTEST = (sys.executable, "-m", "pytest", "-m", "long")


@dataclass(frozen=True, slots=True)
class Ran:
    file: str
    seconds: float
    # As pytest says it, without what it left out.
    result: str
    passed: bool


def main(paths: Sequence[str]) -> int:
    files = collected(paths)
    files.sort(key=lambda file: MINUTES.get(file, 0))
    expected = sum(MINUTES.get(file, 0) for file in files)
    print(f"{len(files)} files, about {expected} minutes on two cores", flush=True)
    done: list[Ran] = []
    try:
        for place, file in enumerate(files, 1):
            about = f"about {MINUTES[file]} min" if file in MINUTES else "less than a minute"
            print(f"\n[{place}/{len(files)}] {file} ({about})", flush=True)
            done.append(ran(file))
    except KeyboardInterrupt:
        print("\ninterrupted")
    print(table(done, left=files[len(done) :]))
    return 0 if len(done) == len(files) and all(one.passed for one in done) else 1


def collected(paths: Sequence[str]) -> list[str]:
    """Files with long tests, as pytest names them."""
    asked = subprocess.run(
        [*_PYTEST, "-qq", "--collect-only", *paths], capture_output=True, text=True
    )
    # 5: there are none.
    if asked.returncode not in (0, 5):
        sys.exit(asked.stdout + asked.stderr)
    return [line.rpartition(": ")[0] for line in asked.stdout.splitlines() if ".py: " in line]


def ran(file: str) -> Ran:
    began, last = time.monotonic(), ""
    with subprocess.Popen([*_PYTEST, "-ra", file], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    parts = [part for part in last.partition(" in ")[0].split(", ") if "deselected" not in part]
    return Ran(file, time.monotonic() - began, ", ".join(parts), process.returncode == 0)


def table(done: Sequence[Ran], left: Sequence[str]) -> str:
    width = max((len(file) for file in (*(one.file for one in done), *left)), default=4)
    lines = [f"\n{'file':{width}}  seconds  result"]
    for one in done:
        verdict = one.result if one.passed else f"FAILED: {one.result}"
        lines.append(f"{one.file:{width}}  {one.seconds:7.0f}  {verdict}")
    lines += [f"{file:{width}}        -  not run" for file in left]
    failed = sum(not one.passed for one in done)
    total = sum(one.seconds for one in done) / 60
    lines.append(f"{len(done) - failed} files passed, {failed} failed, in {total:.0f} minutes")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
