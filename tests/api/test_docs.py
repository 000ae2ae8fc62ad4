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

DOCS = Path(__file__).resolve().parents[2] / "docs" / "api.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the examples use curl")
async def test_every_example_can_be_pasted(
    caller: Caller, port: int, bench: Bench, tmp_path: Path
) -> None:
    admin: httpx2.AsyncClient = await caller("default", role="admin")
    key = tmp_path / ".penstock" / "admin.key"
    key.parent.mkdir()
    key.write_text(admin.headers["authorization"].removeprefix("Bearer "))
    examples = re.findall(r"^```bash\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    script = "\n".join(["set -euo pipefail", *examples])
    script = script.replace("http://127.0.0.1:8600", f"http://127.0.0.1:{port}")
    async with bench.worker() as worker:
        working = asyncio.create_task(worker.run())
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-c", script), cwd=tmp_path, stdout=-1, stderr=-1
        )
        out, err = await shell.communicate()
        worker.stop()
        await working
    assert shell.returncode == 0, (out[-500:], err[-500:])
    assert (tmp_path / "results.csv").read_bytes() == (
        b"sourceId,sku,title,price,currency,match\r\n"
        b"007,007,Hammer,9.90,,new\r\n008,008,Nail,5.00,,new\r\n"
    )
