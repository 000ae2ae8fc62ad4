"""`penstock crawl`, with a server and without one, and the how-to of crawls."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, answers, environment
from tests.ports import free_port

_ROOT = Path(__file__).resolve().parents[2]
PAGE = _ROOT / "docs" / "howto" / "crawl.md"
ALLOW = {"PENSTOCK_CRAWL_ALLOW": "127.0.0.1", "PENSTOCK_LOG_LEVEL": "error"}
pytestmark = pytest.mark.slow


@pytest.fixture
def site() -> Iterator[str]:
    port = free_port()
    folder = _ROOT / "examples" / "site"
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "-d", folder],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while not answers(port):
            assert time.monotonic() < until, "no site"
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def test_the_commands_of_the_page_work(cli: Cli, site: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    commands = "\n".join(blocks).replace("127.0.0.1:8900", site)
    prelude = f'set -eu\npenstock() {{ "{sys.executable}" -m penstock "$@"; }}\n'
    worker = cli.start("worker", **ALLOW)
    try:
        done = subprocess.run(
            ["bash", "-c", prelude + commands], env=environment(cli.data_dir, **ALLOW),
            cwd=tmp_path, text=True, capture_output=True, timeout=240, check=False,
        )  # fmt: skip
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    out = done.stdout
    assert "Desk lamp" in out
    counts = re.findall(r"^lumina +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)", out, re.MULTILINE)
    # pending, crawled, ready, skipped, expired, error
    assert counts == [("0", "0", "3", "2", "1", "0"), ("0", "0", "0", "2", "0", "0")]
    assert re.search(r"open +lumina +Fitter", out)


def test_without_a_server_the_command_does_the_work(unserved_cli: Cli, site: str) -> None:
    plan = {"companies": [{"company": "solo", "urls": [f"http://{site}/lamp.html"]}]}
    Path(unserved_cli.cwd, "plan.json").write_text(json.dumps(plan))
    run = unserved_cli.json(
        "crawl", "start", "-", "--file", "plan.json", "--rate", "20", "--wait", code=0, **ALLOW
    )
    assert (run["status"], run["counts"]["ready"]) == ("finished", 1)
    shown = unserved_cli.json("crawl", "show", run["id"])
    assert shown["companies"][0]["company"] == "solo"
    assert "1 page is extracted again" in unserved_cli("crawl", "extract", run["id"]).stdout
    broken = unserved_cli(
        "crawl", "start", "solo", f"http://{site}/no.pdf", "http://10.0.0.1/", "--rate", "20",
        "--no-robots", "--wait", code=3, **ALLOW,
    )  # fmt: skip
    assert "error" in broken.stdout.lower()


def test_abort_and_wrong_files(cli: Cli) -> None:
    run_id = cli("crawl", "start", "acme", "https://shop.example/p").stdout.strip()
    assert "abort" in cli("crawl", "abort", run_id).stdout
    Path(cli.cwd, "bad.json").write_text("[]")
    assert "companies" in cli("crawl", "start", "-", "--file", "bad.json", code=2).stderr
    assert "--sitemap" in cli("crawl", "start", "acme", code=2).stderr
    both = ("http://a.example/1", "--sitemap", "http://a.example/sitemap.xml")
    assert "one of them" in cli("crawl", "start", "acme", *both, code=2).stderr
