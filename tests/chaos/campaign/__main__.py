"""`python -m tests.chaos.campaign`: harm an installation for a quarter of an hour, and judge it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.machine import facts
from tests.chaos.campaign.page import RECORDED, record
from tests.chaos.campaign.plan import Plan
from tests.chaos.campaign.run import Result, campaign

from penstock.pipelines.noop import ALLOW_CRASH


def _plan(arguments: argparse.Namespace) -> Plan:
    plan = Plan(seed=arguments.seed)
    if arguments.minutes is not None:
        plan = plan.scaled(arguments.minutes * 60 / plan.seconds)
    asked = {"kills": arguments.kills, "zombies": arguments.zombies,
             "server_kills": arguments.server_kills, "cuts": arguments.cuts,
             "patient_kills": arguments.patient_kills}  # fmt: skip
    return replace(plan, **{name: value for name, value in asked.items() if value is not None})


async def _run(plan: Plan, folder: Path) -> tuple[Result, dict[str, object]]:
    async with campaign(plan, folder, say=lambda line: print(line, flush=True)) as made:
        result = await made.run()
        machine = await facts(made.server.owner_dsn)
    kept = ("processor", "cores", "memory_gb", "system", "python", "postgresql", "commit")
    return result, {name: machine[name] for name in kept}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="of faults; all counts in proportion")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--zombies", type=int)
    parser.add_argument("--server-kills", type=int)
    parser.add_argument("--cuts", type=int)
    parser.add_argument("--patient-kills", type=int, help="under default leases, each about 7 s")
    parser.add_argument("--record", action="store_true", help=f"write {RECORDED.name} and the page")
    parser.add_argument("--keep", type=Path, help="a folder for logs, kept afterwards")
    arguments = parser.parse_args()
    os.environ[ALLOW_CRASH] = "1"
    with tempfile.TemporaryDirectory(prefix="penstock-campaign-") as temporary:
        folder = arguments.keep or Path(temporary)
        result, machine = asyncio.run(_run(_plan(arguments), folder))
    found = {"machine": machine, **result.as_json()}
    print(json.dumps(found, indent=1))
    if arguments.record:
        record(found)
    return 1 if result.violations else 0


if __name__ == "__main__":
    sys.exit(main())
