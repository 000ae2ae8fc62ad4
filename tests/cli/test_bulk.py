"""Many jobs from the command line."""

from __future__ import annotations

import time

from tests.cli.conftest import Cli
from tests.cli.test_jobs import engine, submitted, worked

from penstock.engine.runtime import Runtime
from penstock.model.ids import new_id

__all__ = ["engine"]


async def test_it_counts_asks_and_runs(cli: Cli, engine: Runtime) -> None:
    jobs = [await submitted(engine, items=3) for _ in range(3)]
    chosen = [word for job in jobs for word in ("--job", str(job))]
    assert cli("bulk", "run", "cancel", *chosen, "--dry-run").stdout == "3 jobs\n"
    assert cli.json("bulk", "run", "cancel", *chosen, "--dry-run") == {"count": 3, "capped": False}
    # Nobody answers, so nothing is done.
    asked = cli("bulk", "run", "cancel", *chosen, code=1)
    assert "cancel 3 jobs? [y/N]" in asked.stderr
    assert cli.json("jobs", "show", str(jobs[0]))["state"] == "queued"
    said = cli("bulk", "run", "cancel", *chosen, "--yes").stdout
    assert said == "done: 3 changed, 0 left out\n"
    assert cli.json("jobs", "show", str(jobs[0]))["state"] == "cancelled"
    again = cli.json("bulk", "run", "reprocess", *chosen, "--yes")
    assert (again["state"], again["changed"], again["items"]) == ("done", 3, 9)
    made = cli.json("bulk", "run", "priority", *chosen, "--priority", "high", "--yes")
    assert cli.json("jobs", "show", str(jobs[2]))["priority"] == 10
    assert made["id"] in cli("bulk", "list").stdout
    assert cli.json("bulk", "list", "--limit", "1")[0]["id"] == made["id"]
    shown = cli("bulk", "show", made["id"]).stdout
    assert "With            priority 10\n" in shown
    assert "done: 3 changed" in shown


async def test_an_operation_is_left_to_the_server(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=3)
    operation = cli("bulk", "run", "pause", "--job", str(job), "-y", "--detach").stdout.strip()
    until = time.monotonic() + 60
    while (found := cli.json("bulk", "show", operation))["state"] != "done":
        assert time.monotonic() < until, found
    assert cli.json("jobs", "show", str(job))["state"] == "paused"
    assert "nothing to abort" in cli("bulk", "abort", operation, code=1).stderr


async def test_without_a_server_the_command_does_it_all(unserved_cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=3)
    said = unserved_cli("bulk", "run", "pause", "--job", str(job), "-y").stdout
    assert said == "done: 1 changed, 0 left out\n"
    assert unserved_cli.json("jobs", "show", str(job))["state"] == "paused"


def test_what_makes_no_sense_is_told(cli: Cli) -> None:
    for words in (
        ("cancel",),
        ("cancel", "--all", "--pipeline", "noop"),
        ("priority", "--all"),
        ("pause", "--all", "--priority", "3"),
        ("pause", "--all", "--from-start"),
        ("priority", "--all", "--priority", "most"),
        ("cancel", "--job", "abc"),
    ):
        assert cli("bulk", "run", *words, code=2).stderr.startswith("penstock: ")
    assert "no org named 'x'" in cli("bulk", "run", "pause", "--org", "x", code=4).stderr
    assert "'clone'." in cli("bulk", "run", "edit", "--all", code=2).stderr
    assert "is no operation's id" in cli("bulk", "show", "abc", code=2).stderr
    assert "no such operation" in cli("bulk", "abort", str(new_id()), code=4).stderr


async def test_what_failed_runs_again(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=4, failEvery=2)
    await worked(engine, job)
    assert str(job) not in cli("jobs", "retry-failed", "--since", "2999-01-01").stdout
    made = cli.json("jobs", "retry-failed")
    assert str(job) in made["jobs"]
    assert cli.json("jobs", "show", str(job))["state"] == "queued"
    await worked(engine, job)
    assert str(job) in cli("jobs", "retry-failed").stdout
