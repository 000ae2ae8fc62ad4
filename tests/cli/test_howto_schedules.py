"""Pages about schedules, retention, feeds and notifications, and what their commands print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, environment

PAGES = Path(__file__).resolve().parents[2] / "docs" / "howto"


def run_page(cli: Cli, name: str, blocks: int, cwd: Path) -> str:
    found = re.findall(r"```bash\n(.*?)```", (PAGES / name).read_text("utf-8"), re.DOTALL)
    assert len(found) == blocks
    prelude = f'set -eu\npenstock() {{ "{sys.executable}" -m penstock "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", prelude + "\n".join(found)], env=environment(cli.data_dir, **cli.env),
        cwd=cwd, text=True, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_page_about_schedules(cli: Cli, tmp_path: Path) -> None:
    said = run_page(cli, "schedule.md", 1, tmp_path)
    assert "Weekly crawl" in said
    [made] = cli.json("schedules", "list")
    shown = cli.json("schedules", "show", made["id"])
    assert len(shown["nextRuns"]) == 5
    assert cli.json("schedules", "run", made["id"])["scheduleId"] == made["id"]
    assert "is paused" in cli("schedules", "pause", made["id"]).stdout
    assert "is active" in cli("schedules", "resume", made["id"]).stdout
    assert "catchUp     once" in cli("schedules", "show", made["id"]).stdout
    noon = ("schedules", "next", "--cron", "0 12 * * *", "--time-zone", "Asia/Tokyo")
    assert all(one.endswith(" 12:00:00+09:00") for one in cli(*noon).stdout.splitlines())
    assert len(cli.json(*noon)["nextRuns"]) == 5
    refused = cli("schedules", "next", "--cron", "61 * * * *", code=2)
    assert "not allowed as minute" in refused.stderr
    cli("schedules", "add", "Other", "--cron", "@daily", code=2)
    file = ("--url", "https://supplier.example/list.csv", "--intent", "merge", "--source", "acme")
    listed = cli.json("schedules", "add", "List", "--cron", "@daily", *file)
    assert listed["action"]["config"] == {"intent": "merge", "source": "acme"}
    cli("schedules", "add", "Both", "--cron", "@daily", *file, "--query", "drill", code=2)
    cli("schedules", "delete", listed["id"], "--yes")
    assert "is deleted" in cli("schedules", "delete", made["id"], "--yes").stdout


@pytest.mark.slow
def test_the_page_about_retention(cli: Cli, tmp_path: Path) -> None:
    said = run_page(cli, "retention.md", 2, tmp_path)
    assert re.search(r"items +14 days +set by the org", said)
    assert "WOULD BE DELETED" in said
    planned = cli.json("prune", "--dry-run")
    assert planned["dryRun"] is True
    assert set(planned["deleted"].values()) == {0}
    assert cli.json("retention", "set", "items=")["overrides"]["items"] is None
    cli("retention", "set", "items=often", code=2)


@pytest.mark.slow
def test_the_page_about_feeds(cli: Cli, tmp_path: Path) -> None:
    said = run_page(cli, "feeds.md", 1, tmp_path)
    assert re.search(r"/feeds/[0-9a-f]{48}\.xml", said)
    [made] = cli.json("feeds", "list")
    assert "The feed has 0 products." in cli("feeds", "check", made["id"]).stdout
    rotated = cli.json("feeds", "rotate", made["id"])
    assert rotated["paths"]["xml"] not in said
    assert "is deleted" in cli("feeds", "delete", made["id"], "--yes").stdout


@pytest.mark.slow
def test_the_page_about_notifications(cli: Cli, tmp_path: Path) -> None:
    said = run_page(cli, "notifications.md", 2, tmp_path)
    assert "Operations" in said
    kinds = {one["kind"] for one in cli.json("notify", "list")}
    assert kinds == {"webhook", "slack"}
    refused = cli("notify", "add", "webhook", "http://169.254.169.254/latest", code=2)
    assert "URL_NOT_ALLOWED" in refused.stderr
