"""Every operation called with all kinds of right and wrong values: nothing breaks, and every answer
is what the document says."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import httpx2
import pytest
from tests.api.conftest import Caller

from penstock.settings import Settings

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Nobody counts the requests of this caller."""
    loose = {"requests_burst": 10**6, "requests_per_second": 1e6}
    limits = ("sign_in_failures", "sign_in_failures_account", "sign_in_failures_network")
    return settings.model_copy(update={**loose, **dict.fromkeys(limits, 10**6)})


async def explored(port: int, key: str, cwd: Path, *options: str) -> int:
    """How many requests were made; fails with what schemathesis found."""
    shell = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli"),
        *("--config-file", str(HERE / "schemathesis.toml"), "run", "--checks", "all"),
        *(f"http://127.0.0.1:{port}/openapi.json", "-H", f"Authorization: Bearer {key}"),
        *options,
        cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.api.schema_hooks",
             "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
    )  # fmt: skip
    out, _ = await shell.communicate()
    said = out.decode(errors="replace")
    print(said)
    assert shell.returncode == 0, said[-6000:]
    counted = re.search(r"([\d,]+) generated", said)
    assert counted is not None, said[-2000:]
    return int(counted[1].replace(",", ""))


def key_of(client: httpx2.AsyncClient) -> str:
    return str(client.headers["authorization"].removeprefix("Bearer "))


@pytest.mark.parametrize("each", ["2", pytest.param("4", marks=pytest.mark.long)])
async def test_a_few_hundred_requests(caller: Caller, port: int, tmp_path: Path, each: str) -> None:
    """Of every operation."""
    member = await caller("default")
    made = await explored(
        port, key_of(member), tmp_path, "--phases", "examples,fuzzing", "--max-examples", each,
        "--seed", "1", "--no-shrink",
    )  # fmt: skip
    assert made > 300


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_thousands_of_requests(caller: Caller, port: int, tmp_path: Path) -> None:
    admin = await caller("default", role="admin")
    made = await explored(
        port, key_of(admin), tmp_path, "--max-examples", "30", "--continue-on-failure"
    )
    assert made > 5000
