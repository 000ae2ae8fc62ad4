"""A child that foreign bytes took over: what it can reach, and what its parent believes of it."""

from __future__ import annotations

import math
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.hostile import taken_over

from penstock.formats.read_options import Problem
from penstock.formats.tables import JsonChunk
from penstock.guards import sandbox
from penstock.guards.answers import NotAnAnswer, decode, decode_error, encode, encode_error
from penstock.guards.children import ChildPool
from penstock.model.effects import NameRow
from penstock.model.errors import BadInput, ChildCrashed, ItemError
from penstock.model.outcomes import Advance, Fail
from penstock.model.ports import InputFile

MEMORY = 512 * 1024 * 1024
needs_seccomp = pytest.mark.skipif("seccomp" in sandbox.missing(), reason="no seccomp here")
needs_landlock = pytest.mark.skipif("Landlock" in sandbox.missing(), reason="no Landlock here")


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[ChildPool]:
    data = tmp_path / "data"
    data.mkdir()
    (data / "secret.key").write_text("the key of everything")
    (data / "blob").write_text("a,b\n1,2\n")
    made = ChildPool(MEMORY, 5, folder=data / "children", hidden=(data,))
    yield made
    await made.close()
    assert list((data / "children").glob("*")) == []


@needs_seccomp
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6, socket.AF_UNIX])
async def test_a_child_opens_no_sockets(pool: ChildPool, family: int) -> None:
    assert await pool.call(taken_over.tried, "socket", int(family)) == "PermissionError"


@needs_seccomp
@pytest.mark.parametrize("what", ["execute", "kill_parent", "limit_parent", "ptrace_parent"])
async def test_a_child_reaches_no_other_process(pool: ChildPool, what: str) -> None:
    assert await pool.call(taken_over.tried, what, os.getpid()) == "PermissionError"


@needs_landlock
async def test_a_child_reads_the_file_it_is_given_and_no_other(
    pool: ChildPool, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    read = await pool.call(taken_over.read, InputFile(data / "blob"))
    assert read == "a,b\n1,2\n"
    for other in (data / "blob", data / "secret.key", Path("/etc/passwd"), Path("/etc/hostname"),
                  Path(f"/proc/{os.getpid()}/environ"), Path.home() / ".ssh"):  # fmt: skip
        if other.exists():
            assert await pool.call(taken_over.tried, "read", str(other)) == "PermissionError"


@needs_landlock
async def test_a_child_changes_nothing_but_its_own_folder(pool: ChildPool, tmp_path: Path) -> None:
    blob = InputFile(tmp_path / "data" / "blob")
    assert await pool.call(taken_over.tried, "write", blob) == "PermissionError"
    assert await pool.call(taken_over.tried, "move_and_write", blob) in (
        "PermissionError", "OSError",
    )  # fmt: skip
    assert await pool.call(taken_over.tried, "write", str(tmp_path / "new")) == "PermissionError"
    assert Path(blob).read_text() == "a,b\n1,2\n"
    assert await pool.call(taken_over.tried, "use_temporary_file", "") == "done"
    assert await pool.call(taken_over.left_behind) == []


@needs_landlock
async def test_secrets_below_a_folder_of_the_path_are_not_read(tmp_path: Path) -> None:
    """Such as where the server was started in the folder that its data folder is in."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "secret.key").write_text("x")
    (tmp_path / "own_module.py").write_text("VALUE = 7")
    code = (
        "import asyncio, sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from penstock.guards.children import ChildPool\n"
        "from tests.hostile import taken_over\n"
        "async def main():\n"
        "    data = Path(sys.argv[1], 'data')\n"
        "    pool = ChildPool(1 << 29, 5, folder=data / 'children', hidden=(data,))\n"
        "    print(await pool.call(taken_over.tried, 'read', str(data / 'secret.key')))\n"
        "    print(await pool.call(taken_over.imported, 'own_module'))\n"
        "    await pool.close()\n"
        "asyncio.run(main())\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=env, capture_output=True, text=True
    )
    assert done.stdout.split() == ["PermissionError", "7"], done.stderr


async def test_a_forged_answer_runs_no_code_in_the_parent(pool: ChildPool, tmp_path: Path) -> None:
    trace = tmp_path / "executed"
    for forged in taken_over.forged(str(trace)):
        with pytest.raises(ChildCrashed):
            await pool.call(taken_over.answer_with, forged)
    assert not trace.exists()


async def test_an_answer_that_claims_to_be_endless_is_not_waited_for(pool: ChildPool) -> None:
    with pytest.raises(ChildCrashed, match="bytes"):
        await pool.call(taken_over.claim_length, 2**60)


VALUES: list[Any] = [
    None, True, 0, -(2**63), 2**80, 1.5, "", "ü\ud800", "x" * 10_000, b"\0\xff" * 999, [], {},
    {"a": [1, {"b": None}]}, {1: "int key"}, {"s": {1, 2}}, Decimal("1.10"), date(2026, 1, 2),
    datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), ["line"] * 100, ["with\nbreak"] * 100,
    Advance({"a": 1}, {"b": 2}, effects=[NameRow(["sku:1"], 3)], spawn=[]),
    Fail(ItemError("CODE", "why", "col", "v", {"more": [1]}), effects=[], spawn=[]),
    JsonChunk(["[1]"] * 500, [3] * 500, 7, [Problem("RAGGED", 3, "why", 1, 2)]),
    JsonChunk(["ü\ud800"] * 500, [3] * 500, 7, []),
    {"\0as": "Advance"},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES[:-1], ids=lambda value: repr(value)[:40])
def test_answers_come_back_as_they_were(value: Any) -> None:
    again = decode(encode(value))
    assert again == value
    assert type(again) is type(value)


def test_a_number_that_is_none_is_lost_in_json() -> None:
    assert decode(encode([math.nan, math.inf])) == [None, None]


@pytest.mark.parametrize(
    "content",
    [b"", b"x" * 100, encode(1)[:-1], encode(1) + b"x", encode(VALUES[-1]),
     encode({"\0as": "os.system", "v": ["true"]}), encode({"\0as": "bytes", "v": 99})],
)  # fmt: skip
def test_what_no_child_of_ours_says_is_refused(content: bytes) -> None:
    with pytest.raises(NotAnAnswer):
        decode(content)


def test_only_errors_are_made_of_errors() -> None:
    error = BadInput("CODE", "why", retry_after_ms=5, line=3)
    again = decode_error(encode_error(error))
    assert isinstance(again, BadInput)
    assert (again.code, again.message, again.retry_after_ms, again.details) == (
        "CODE", "why", 5, {"line": 3},
    )  # fmt: skip
    assert type(decode_error(encode_error(KeyError("x")))) is KeyError
    assert type(decode_error(encode_error(SystemExit(3)))) is RuntimeError
    for kind in ("SystemExit", "KeyboardInterrupt", "Popen", "__import__"):
        assert type(decode_error(encode({"kind": kind, "message": "x"}))) is RuntimeError
    with pytest.raises(NotAnAnswer):
        decode_error(encode([1]))


def test_missing_protections_are_named() -> None:
    assert sandbox.described({"Landlock": "too old"}) == "seccomp active; Landlock: too old"
