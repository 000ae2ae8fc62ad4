"""Every kind of place against a real server: the same behaviour, whatever the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from pathlib import Path

import pytest
from tests.places.servers import (
    KEYS,
    USER,
    OldFtpHandler,
    all_places,
    ftp_server,
    make_certificate,
    place,
    s3_server,
    sftp_server,
)

from penstock.model.errors import NotThere
from penstock.model.places.ports import Place, PlaceAddress, PlaceKind, PlaceLimits
from penstock.places.registry import AllPlaces

KINDS = ("folder", "s3", "ftp", "old ftp", "ftps", "sftp")


@pytest.fixture(params=KINDS)
async def opened(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[AllPlaces, PlaceAddress]]:
    folder = tmp_path / "served"
    (folder / "in").mkdir(parents=True)
    places = all_places(tmp_path)
    async with AsyncExitStack() as stack:
        match request.param:
            case "folder":
                address = place(PlaceKind.FOLDER, str(folder / "in"))
            case "s3":
                endpoint = stack.enter_context(s3_server())
                address = place(PlaceKind.S3, f"s3://goods/in?endpoint={endpoint}", **KEYS)
                await _make_bucket(places, address)
            case "ftp":
                port = stack.enter_context(ftp_server(folder))
                address = place(PlaceKind.FTP, f"ftp://127.0.0.1:{port}/in", **USER)
            case "old ftp":
                port = stack.enter_context(ftp_server(folder, handler=OldFtpHandler))
                address = place(PlaceKind.FTP, f"ftp://127.0.0.1:{port}/in", **USER)
            case "ftps":
                trusted = make_certificate(tmp_path / "tls.pem")
                port = stack.enter_context(ftp_server(folder, tmp_path / "tls.pem"))
                address = place(
                    PlaceKind.FTP, f"ftps://127.0.0.1:{port}/in", certificate=trusted, **USER
                )
            case _:
                port = await stack.enter_async_context(sftp_server(folder))
                address = place(PlaceKind.SFTP, f"sftp://127.0.0.1:{port}/in", **USER)
        assert await places.check(address) == address.address
        yield places, address


async def _make_bucket(places: AllPlaces, address: PlaceAddress) -> None:
    async with places.open(address) as opened:
        await opened._requests.send("PUT", "")  # type: ignore[attr-defined]


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def content(opened: Place, name: str) -> bytes:
    file = await opened.find(name)
    assert file is not None
    return b"".join([piece async for piece in opened.read(file)])


async def test_put_list_read_move_delete(opened: tuple[AllPlaces, PlaceAddress]) -> None:
    places, address = opened
    large = b"0123456789abcdef" * 1_100_000
    async with places.open(address) as there:
        assert (await there.list()).files == []
        assert await there.put("ä goods.csv", pieces(b"sku\n", b"1\n")) == 6
        assert await there.put("deep/er/large.bin", pieces(large[:10_000_000], large[10_000_000:]))
        assert await there.put("ä goods.csv", pieces(b"sku,x\n2,3\n")) == 10
        assert [(one.name, one.size) for one in (await there.list()).files] == [("ä goods.csv", 10)]
        deep = sorted((await there.list(depth=3)).files, key=lambda one: one.name)
        assert [one.name for one in deep] == ["deep/er/large.bin", "ä goods.csv"]
        assert await content(there, "deep/er/large.bin") == large
        assert await content(there, "ä goods.csv") == b"sku,x\n2,3\n"
        # Listed and asked for alone, a file has the same version.
        assert await there.find(deep[0].name) is not None
        for file in deep:
            found = await there.find(file.name)
            assert found is not None
            assert found.version == file.version
        assert await there.move(deep[1], "done/ä goods.csv") == "done/ä goods.csv"
        assert (await there.list()).files == []
        await there.put("ä goods.csv", pieces(b"new\n"))
        [again] = (await there.list()).files
        assert await there.move(again, "ä goods.csv.taken") == "ä goods.csv.taken"
        [again] = (await there.list()).files
        assert await there.move(again, "done/ä goods.csv") == "done/ä goods (2).csv"
        assert await content(there, "done/ä goods.csv") == b"sku,x\n2,3\n"
        assert await content(there, "done/ä goods (2).csv") == b"new\n"
        # Another file under the name stays.
        await there.put("deep/er/large.bin", pieces(b"other"))
        for change in (there.delete(deep[0]), there.move(deep[0], "gone")):
            with pytest.raises(NotThere):
                await change
        found = await there.find("deep/er/large.bin")
        assert found is not None
        await there.delete(found)
        await there.delete(found)
        assert await there.find("deep/er/large.bin") is None


async def test_what_breaks_off_leaves_nothing(
    opened: tuple[AllPlaces, PlaceAddress], tmp_path: Path
) -> None:
    places, address = opened

    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * 9_000_000
        raise RuntimeError("the source broke off")

    async with places.open(address) as there:
        with pytest.raises(RuntimeError):
            await there.put("half.csv", broken())
    async with places.open(address) as there:
        assert await there.find("half.csv") is None
        assert not (await there.list()).files
        # A partial file may have a name that listings leave out.
        assert [path for path in tmp_path.rglob("*.part") if path.is_file()] == []
        await there.put("whole.csv", pieces(b"x" * 3_000_000))
        file = await there.find("whole.csv")
        assert file is not None
        async with aclosing(there.read(file)) as given_up:
            assert await anext(given_up)
        # The connection still works after a read that was given up.
        assert len(await content(there, "whole.csv")) == 3_000_000


async def test_a_listing_is_bounded(opened: tuple[AllPlaces, PlaceAddress]) -> None:
    places, address = opened
    async with places.open(address, PlaceLimits(entries=3)) as there:
        for number in range(5):
            await there.put(f"{number}.csv", pieces(b"x"))
        listing = await there.list()
        assert (len(listing.files), listing.cut) == (3, True)
        assert await content(there, "0.csv") == b"x"
