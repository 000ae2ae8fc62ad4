"""Give every row that failed for want of a price one, and run just those rows again.

export PENSTOCK_KEY=$(cat .penstock/admin.key)
python examples/fix_rows.py JOB_ID Price 9.90
"""

from __future__ import annotations

import sys

from penstock.client import Client


def main(job_id: str, column: str, value: str) -> None:
    with Client() as penstock:
        failed = [item.row_no for item in penstock.items(job_id, statuses=["ERROR"])]
        for row_no in failed:
            penstock.fix(job_id, row_no, {column: value})
            penstock.wait(job_id)
        job = penstock.job(job_id)
        print(f"fixed {len(failed)}, still wrong {job.counters.error}")


if __name__ == "__main__":
    main(*sys.argv[1:4])
