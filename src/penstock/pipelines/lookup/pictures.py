"""Pictures of a lookup: files and members of ZIP archives, each an item, and their scan."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from penstock.catalog.lookup.picture_names import names_of_picture
from penstock.formats.picture_scan import PictureScan, pictures_in, scan_file
from penstock.formats.pictures import is_picture
from penstock.model.errors import BadInput, ChildCrashed, ItemError, PermanentError
from penstock.model.outcomes import Advance, Fail, Outcome
from penstock.model.pipeline import FileRef, Item, Job, Row, RowBatch, each
from penstock.model.ports import Context, InputFile
from penstock.pipelines.lookup.result import RESULT_COLUMNS

# More than there are children: some wait for the disk.
_AT_ONCE = 4
PICTURE, NAMES, HASHES, CODES = "picture", "names", "hashes", "codes"
FILE, FILE_ID, MEMBER = "file", "fileId", "member"
COLUMNS = (FILE, CODES, *RESULT_COLUMNS)


async def has_pictures(job: Job, ctx: Context) -> bool:
    """Whether the job is about pictures, by the content of its first file."""
    if job.file is None:
        return False
    return len(job.files) > 1 or await _members(job.file, ctx) is not None


async def _members(file: FileRef, ctx: Context) -> list[str | None] | None:
    """The pictures in a file: itself (None) or members of an archive; None: there are none."""
    if is_picture((await ctx.blobs.head(file.blob_key))[:16]):
        return [None]
    async with ctx.blobs.local(file.blob_key) as path:
        return await ctx.children.call(pictures_in, InputFile(path), dict(ctx.limits))  # type: ignore[no-any-return]


async def picture_batches(
    job: Job, ctx: Context, cursor: Mapping[str, Any] | None
) -> AsyncGenerator[RowBatch, None]:
    """An item per picture. The cursor says which file and which of its members come next."""
    place, member = (cursor["file"], cursor["member"]) if cursor else (0, 0)
    rows: list[Row] = []
    while place < len(job.files):
        file = job.files[place]
        members = await _members(file, ctx)
        if members is None:
            raise BadInput(
                "UNSUPPORTED_TYPE",
                f"{file.name} is no picture and no archive of pictures. A lookup takes several"
                " files only if all are pictures; send a list on its own.",
            )
        while member < len(members):
            rows.append(_row(file, members[member]))
            member += 1
            if len(rows) >= ctx.batch_rows:
                yield _batch(job, rows, place, member)
                rows = []
        place, member = place + 1, 0
    yield _batch(job, rows, place, member)


def _row(file: FileRef, member: str | None) -> Row:
    told = {FILE: member or file.name, FILE_ID: str(file.id)}
    return Row(told if member is None else told | {MEMBER: member})


def _batch(job: Job, rows: Sequence[Row], place: int, member: int) -> RowBatch:
    cursor = {"file": place, "member": member, "pictures": True}
    return RowBatch(list(rows), cursor, place, len(job.files))


async def read_pictures(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Read the barcodes and the hashes of each picture, in child processes."""
    return await each(_read_picture, _AT_ONCE)(batch, ctx)


async def _read_picture(item: Item, ctx: Context) -> Outcome:
    name = item.input[FILE]
    file = next((one for one in item.job.files if str(one.id) == item.input[FILE_ID]), None)
    if file is None:
        return Fail(ItemError("FILE_NOT_FOUND", f"The file of {name} is gone"), {FILE: name})
    try:
        async with ctx.blobs.local(file.blob_key) as path:
            found: PictureScan = await ctx.children.call(
                scan_file, InputFile(path), item.input.get(MEMBER)
            )
    except (ChildCrashed, PermanentError) as error:
        return Fail(_refusal(name, error), {FILE: name})
    told = {
        PICTURE: {"width": found.width, "height": found.height},
        CODES: [list(code) for code in found.codes],
        NAMES: names_of_picture(found.codes, name).as_json(),
    }
    if found.hashes is not None:
        told[HASHES] = list(found.hashes)
    cells = {FILE: name, CODES: ", ".join(text for _, text in found.codes) or None}
    return Advance(told, {column: cell for column, cell in cells.items() if cell})


def _refusal(name: str, error: Exception) -> ItemError:
    if isinstance(error, BadInput):
        return ItemError(error.code, f"{name} {error.message}")
    return ItemError("PICTURE_TOO_LARGE", f"{name} is more than its decoder can take")
