"""`penstock notify`, as people call it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.cli.conftest import Cli

from penstock.guards.sealing import new_key

pytestmark = pytest.mark.slow


def test_a_targets_life(unserved_cli: Cli) -> None:
    # The settings decide which URLs are allowed, so these commands ask no other server.
    allowed = {"PENSTOCK_WEBHOOK_ALLOW": "127.0.0.1", "PENSTOCK_SECRET_KEY": new_key()}
    cli = replace(unserved_cli, env={**unserved_cli.env, **allowed})
    made = cli.json(
        "notify", "add", "slack", "http://127.0.0.1:9/hook/hush", "--severity", "critical"
    )
    assert (made["severities"], made["installation"]) == (["critical"], True)
    listed = cli("notify", "list").stdout
    assert made["id"] in listed
    assert "hush" not in listed
    assert "NAME" in listed.splitlines()[0]
    # No worker runs: it waits.
    tested = cli.json("notify", "test", made["id"], "--wait", "0")
    assert (tested["state"], tested["phase"]) == ("waiting", "test")
    assert tested["id"] in cli("notify", "log").stdout
    silenced = cli.json("notify", "silence", made["id"], "--minutes", "5")
    assert silenced["silencedUntil"] is not None
    # The command serves itself, so that the monitor runs, and finds no worker.
    for alert in cli.json("notify", "alerts"):
        shown = cli.json("notify", "silence-alert", alert["id"], "--reason", "known")
        assert shown["silenceReason"] == "known"
    cli("notify", "remove", made["id"])
    assert cli.json("notify", "list") == []
    cli("notify", "add", "slack", "http://169.254.169.254/", code=2)
    cli("notify", "add", "email", "ops@example.com", code=2)


def test_mails_about_jobs_of_ones_own(unserved_cli: Cli) -> None:
    cli = unserved_cli
    assert cli.json("notify", "me")["jobs"] == "none"
    # Without a server no e-mail could be sent, and each would become a dead letter.
    assert "PENSTOCK_SMTP_URL" in cli("notify", "me", "--jobs", "failed", code=2).stderr
    unwatched = cli.json("jobs", "start", "noop", "--config", '{"items": 1}')["jobId"]
    assert "PENSTOCK_SMTP_URL" in cli("notify", "job", unwatched, code=2).stderr
    assert cli.json("notify", "me", "--jobs", "none")["jobs"] == "none"
    server = {"PENSTOCK_SMTP_URL": "smtp://127.0.0.1:9?from=penstock@example.com"}
    cli = replace(cli, env={**cli.env, **server})
    assert cli.json("notify", "me", "--jobs", "failed")["jobs"] == "failed"
    assert "failed" in cli("notify", "me").stdout
    cli("notify", "me", "--jobs", "often", code=2)
    job_id = cli.json("jobs", "start", "noop", "--config", '{"items": 1}')["jobId"]
    assert cli.json("notify", "job", job_id) == {"watched": True}
    assert cli.json("notify", "job", job_id, "--off") == {"watched": False}
    cli("notify", "job", "00000000-0000-7000-8000-000000000000", code=4)
