"""The reference works as it is written."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path

import httpx2
import pytest
from tests.api.conftest import Caller
from tests.fixtures import Bench

DOCS = Path(__file__).resolve().parents[2] / "docs"


async def run_examples(
    page: str, caller: Caller, port: int, bench: Bench, folder: Path
) -> tuple[bytes, bytes]:
    """What is written there, pasted into a shell from top to bottom."""
    admin: httpx2.AsyncClient = await caller("default", role="admin")
    key = folder / ".penstock" / "admin.key"
    key.parent.mkdir()
    key.write_text(admin.headers["authorization"].removeprefix("Bearer "))
    text = (DOCS / page).read_text("utf-8")
    examples = re.findall(r"^```bash\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    script = "\n".join(["set -euo pipefail", *examples])
    script = script.replace("http://127.0.0.1:8600", f"http://127.0.0.1:{port}")
    async with bench.worker() as worker:
        working = asyncio.create_task(worker.run())
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-c", script), cwd=folder, stdout=-1, stderr=-1
        )
        out, err = await shell.communicate()
        worker.stop()
        await working
    assert shell.returncode == 0, (out[-500:], err[-500:])
    return out, err


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples use curl")
async def test_every_example_can_be_pasted(
    caller: Caller, port: int, bench: Bench, tmp_path: Path
) -> None:
    await run_examples("api.md", caller, port, bench, tmp_path)
    assert (tmp_path / "results.csv").read_bytes() == (
        b"sourceId,sku,title,price,currency,unit,match\r\n"
        b"007,007,Hammer,9.90,,piece,new\r\n008,008,Nail,5.00,,piece,new\r\n"
    )


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples use curl")
async def test_streams_can_be_watched_as_described(
    caller: Caller, port: int, bench: Bench, tmp_path: Path
) -> None:
    out, _ = await run_examples("howto/live.md", caller, port, bench, tmp_path)
    for line in (b"id: 1\nevent: job.queued\ndata: {", b"event: job.completed\n", b": beat\nid: "):
        assert line in out


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples use curl")
async def test_people_are_let_in_as_described(
    caller: Caller, port: int, bench: Bench, tmp_path: Path
) -> None:
    out, _ = await run_examples("howto/access.md", caller, port, bench, tmp_path)
    for action in (b"user.create", b"user.change_password", b"key.revoke", b"session.delete"):
        assert action in out
