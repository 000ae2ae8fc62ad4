"""Every call once, as data: what to send, and how to read the answer. No I/O happens here; the two
clients differ only in how they send."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar
from uuid import UUID, uuid4

from .shapes import BatchResult, Event, File, Item, Job, Preview, Receipt, Reprocessed, Undone

T = TypeVar("T")
Source = str | os.PathLike[str] | bytes | BinaryIO
JobRef = UUID | str
# What a server or the network may get wrong for a moment, without having done anything.
_PASSING = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Call(Generic[T]):
    """``repeatable``: sending it twice does what sending it once does."""

    method: str
    path: str
    read: Callable[[Any], T]
    params: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    form: Mapping[str, str] | None = None
    source: Source | None = None
    file_name: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    next: str | None


@dataclass(frozen=True)
class Patience:
    """How often and how long to try again what may pass."""

    tries: int = 6
    base_s: float = 0.25
    cap_s: float = 10.0

    def wait_after(
        self, call: Call[Any], tried: int, status: int | None, retry_after: float | None
    ) -> float | None:
        """Seconds until the next try; None: this is the end. Without a status no answer came."""
        if not call.repeatable or tried >= self.tries:
            return None
        if status is not None and status not in _PASSING:
            return None
        backoff: float = min(self.base_s * 2 ** (tried - 1), self.cap_s)
        return backoff if retry_after is None else max(backoff, retry_after)


def submit(
    source: Source | None, *, pipeline: str, config: Mapping[str, Any] | None, priority: int | str,
    name: str, file_id: UUID | str | None, url: str | None, file_name: str | None,
    idempotency_key: str | None,
) -> Call[Receipt]:  # fmt: skip
    """With a key of its own if none is given: a lost answer never makes a second job."""
    key = {"Idempotency-Key": idempotency_key or str(uuid4())}
    order: dict[str, Any] = {"pipeline": pipeline, "priority": priority, "name": name}
    if source is None:
        order |= {"config": dict(config or {}), **_named(file_id, url)}
        return Call("POST", "/api/jobs", Receipt.model_validate, body=order, headers=key)
    form = {name: str(value) for name, value in order.items()}
    form["config"] = json.dumps(dict(config or {}))
    return Call(
        "POST", "/api/jobs", Receipt.model_validate, form=form, source=source,
        file_name=file_name, headers=key, repeatable=_can_be_read_again(source),
    )  # fmt: skip


def submit_many(jobs: Sequence[Mapping[str, Any]]) -> Call[list[BatchResult]]:
    """Each job has a key of its own if none is given: a lost answer never makes second jobs."""
    wanted = [{"idempotencyKey": str(uuid4()), **one} for one in jobs]
    return Call("POST", "/api/jobs/batch", _results, body={"jobs": wanted})


def _results(answer: Any) -> list[BatchResult]:
    return [BatchResult.model_validate(one) for one in answer["results"]]


def order(path: str, fields: Mapping[str, Any]) -> Call[Receipt]:
    """A job by another route: research, an import from a shop."""
    body = {camel(name): value for name, value in fields.items() if value is not None}
    key = {"Idempotency-Key": str(uuid4())}
    return Call("POST", path, Receipt.model_validate, body=body, headers=key)


def preview(
    source: Source | None, *, config: Mapping[str, Any] | None, file_id: UUID | str | None,
    url: str | None, file_name: str | None,
) -> Call[Preview]:  # fmt: skip
    read = Preview.model_validate
    if source is None:
        body = {"config": dict(config or {}), **_named(file_id, url)}
        return Call("POST", "/api/jobs/preview", read, body=body)
    form = {"config": json.dumps(dict(config or {}))}
    return Call(
        "POST", "/api/jobs/preview", read, form=form, source=source, file_name=file_name,
        repeatable=_can_be_read_again(source),
    )  # fmt: skip


def _named(file_id: UUID | str | None, url: str | None) -> dict[str, str]:
    named = {"fileId": None if file_id is None else str(file_id), "url": url}
    return {name: value for name, value in named.items() if value is not None}


def upload(source: Source, file_name: str | None) -> Call[File]:
    return Call(
        "POST", "/api/files", File.model_validate, form={}, source=source, file_name=file_name,
        repeatable=_can_be_read_again(source),
    )  # fmt: skip


def job(job_id: JobRef) -> Call[Job]:
    return Call("GET", f"/api/jobs/{job_id}", Job.model_validate)


def jobs(after: str | None, **filters: Any) -> Call[Page[Job]]:
    return _page("/api/jobs", Job.model_validate, after, filters)


def items(job_id: JobRef, after: str | None, **filters: Any) -> Call[Page[Item]]:
    return _page(f"/api/jobs/{job_id}/items", Item.model_validate, after, filters)


def page(path: str, after: str | None, **filters: Any) -> Call[Page[dict[str, Any]]]:
    """A page of any list: products, dead letters, webhooks, …"""
    return _page(path, dict, after, filters)


def control(job_id: JobRef, action: str, body: Mapping[str, Any] | None = None) -> Call[Job]:
    """Pause, resume, cancel and priority answer the job as it is then, and may be repeated."""
    return Call("POST", f"/api/jobs/{job_id}/{action}", Job.model_validate, body=body)


def reprocess(job_id: JobRef, selection: Mapping[str, Any]) -> Call[Reprocessed]:
    return Call(
        "POST", f"/api/jobs/{job_id}/reprocess", Reprocessed.model_validate,
        body=selection, repeatable=False,
    )  # fmt: skip


def undo(job_id: JobRef, dry_run: bool, after: UUID | None) -> Call[Undone]:
    asked = _given({"dry_run": dry_run, "after": after})
    return Call("POST", f"/api/jobs/{job_id}/undo", Undone.model_validate, asked)


def fix(job_id: JobRef, row_no: int, cells: Mapping[str, str | None]) -> Call[Reprocessed]:
    return Call(
        "PATCH", f"/api/jobs/{job_id}/items/{row_no}", Reprocessed.model_validate,
        body={"input": dict(cells)}, repeatable=False,
    )  # fmt: skip


def edit(
    job_id: JobRef, select: Mapping[str, Any], change: Mapping[str, Any], dry_run: bool
) -> Call[dict[str, Any]]:
    body = {"select": dict(select), "change": dict(change), "dryRun": dry_run}
    return Call("POST", f"/api/jobs/{job_id}/items/fix", dict, body=body, repeatable=False)


def undo_edit(job_id: JobRef) -> Call[dict[str, Any]]:
    return Call("POST", f"/api/jobs/{job_id}/edits/undo", dict, body={}, repeatable=False)


def remap(job_id: JobRef, config: Mapping[str, Any]) -> Call[Reprocessed]:
    return Call(
        "POST", f"/api/jobs/{job_id}/remap", Reprocessed.model_validate,
        body={"config": dict(config)}, repeatable=False,
    )  # fmt: skip


def clone(job_id: JobRef, changes: Mapping[str, Any]) -> Call[Receipt]:
    return Call(
        "POST", f"/api/jobs/{job_id}/clone", Receipt.model_validate,
        body=changes, headers={"Idempotency-Key": str(uuid4())},
    )  # fmt: skip


def export(path: str, **options: Any) -> Call[None]:
    return Call("POST", path, _nothing, params=_given(options))


def job_events(job_id: JobRef, since: int) -> Call[Event]:
    return Call("GET", f"/api/jobs/{job_id}/events", Event.model_validate, {"since": since})


def any_call(
    method: str, path: str, params: Mapping[str, Any] | None, body: Any, repeatable: bool
) -> Call[Any]:
    return Call(method, path, _as_is, _given(params or {}), body, repeatable=repeatable)


def opened(source: Source, file_name: str | None) -> tuple[str, BinaryIO, bool]:
    """A source's name and bytes, and whether they are ours to close."""
    if isinstance(source, bytes):
        return file_name or "upload", io.BytesIO(source), True
    if isinstance(source, (str, os.PathLike)):
        return file_name or Path(source).name, open(source, "rb"), True
    name = file_name or Path(str(getattr(source, "name", "upload"))).name
    return name, source, False


def _can_be_read_again(source: Source) -> bool:
    return isinstance(source, (str, os.PathLike, bytes))


def _page(
    path: str, read: Callable[[Any], T], after: str | None, filters: Mapping[str, Any]
) -> Call[Page[T]]:
    def read_page(answer: Any) -> Page[T]:
        return Page([read(one) for one in answer["items"]], answer.get("next"))

    return Call("GET", path, read_page, _given({**filters, "after": after}))


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the API spells them; those that were not given are left out."""
    return {camel(name): _text(value) for name, value in options.items() if value is not None}


def camel(name: str) -> str:
    """A name as the API spells it."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ",".join(str(one) for one in value)
    return str(value)


def _as_is(answer: Any) -> Any:
    return answer


def _nothing(_: Any) -> None:
    return None
