"""Import a supplier's file and keep what is wrong with it as a file of its own.

export PENSTOCK_KEY=$(cat .penstock/admin.key)
python examples/import_file.py examples/supplier.csv
"""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.client import Client, Job


def main(path: Path) -> int:
    with Client() as penstock:
        receipt = penstock.submit(path, config={"intent": "check"}, name=path.stem)
        job = penstock.wait(receipt.job_id, on_update=show, check=True)
        results = penstock.export(job.id, f"{path.stem}-clean.xlsx", format="xlsx")
        print(f"{job.counters.done} rows are in {results}")
        if not job.counters.error:
            return 0
        problems = penstock.export(job.id, f"{path.stem}-problems.csv", which="errors")
        print(f"{job.counters.error} rows have problems: see {problems}")
        return 3


def show(job: Job) -> None:
    print(f"{job.progress.percent:5.1f} %  {job.progress.message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
