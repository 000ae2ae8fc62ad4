"""Print what happens to a job until it has ended, without a gap even if the server restarts.

export PENSTOCK_KEY=$(cat .penstock/admin.key)
python examples/watch_job.py JOB_ID
"""

from __future__ import annotations

import asyncio
import sys

from penstock.client import AsyncClient


async def main(job_id: str) -> None:
    async with AsyncClient() as penstock:
        async for event in penstock.watch(job_id):
            print(event.seq, event.event, event.data)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
