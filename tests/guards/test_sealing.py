"""Sealed secrets: they open where they belong, with the right key, and nowhere else."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penstock.guards.sealing import Sealer, key_in_file, new_key, parse_keys
from penstock.model.errors import PenstockError


def test_a_secret_opens_for_its_owner_alone() -> None:
    key = new_key()
    sealed = Sealer(lambda: key).seal(b"canary", "webhook:1")
    assert b"canary" not in sealed
    assert Sealer(lambda: key).open(sealed, "webhook:1") == b"canary"
    assert Sealer(lambda: key).seal(b"canary", "webhook:1") != sealed
    with pytest.raises(PenstockError, match="does not open"):
        Sealer(lambda: key).open(sealed, "webhook:2")


@pytest.mark.parametrize("place", range(0, 40, 3))
def test_a_changed_byte_does_not_open(place: int) -> None:
    sealer = Sealer(new_key)
    sealed = bytearray(sealer.seal(b"canary", "x"))
    sealed[place % len(sealed)] ^= 1
    with pytest.raises(PenstockError) as caught:
        sealer.open(bytes(sealed), "x")
    assert caught.value.code == "SECRET_KEY_MISSING"


def test_keys_are_changed_one_after_the_other() -> None:
    old, fresh = new_key(), new_key()
    sealed = Sealer(lambda: old).seal(b"canary", "x")
    both = Sealer(lambda: f"{fresh},{old}")
    assert both.open(sealed, "x") == b"canary"
    assert not both.is_current(sealed)
    again = both.seal(both.open(sealed, "x"), "x")
    assert both.is_current(again)
    assert Sealer(lambda: fresh).open(again, "x") == b"canary"
    with pytest.raises(PenstockError, match="PENSTOCK_SECRET_KEY"):
        Sealer(lambda: fresh).open(sealed, "x")


def test_without_a_key_the_error_says_what_to_do() -> None:
    with pytest.raises(PenstockError, match="penstock secrets new-key"):
        Sealer(lambda: None).seal(b"x", "y")


def test_what_is_no_key_is_not_repeated() -> None:
    with pytest.raises(ValueError, match="secret key 2") as caught:
        parse_keys(f"{new_key()},hunter2-canary")
    assert "hunter2" not in str(caught.value)
    with pytest.raises(PenstockError, match="secret key 1 is not 32 bytes"):
        Sealer(lambda: "hunter2-canary").seal(b"x", "y")


def test_a_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret.key"
    assert key_in_file(path, make=False) is None
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: key_in_file(path, make=True), range(8)))
    assert len(set(made)) == 1
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["secret.key"]
