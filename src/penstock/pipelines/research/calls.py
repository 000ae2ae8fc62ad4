"""The stages `call` and `collect`: one request to a source per item, its raw answer kept.

An answer is written to a cache as soon as it is here, and kept as a blob with the settle. After a
crash in between, the cached answer is used, so that no call that was answered is repeated.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import orjson

from penstock.model.effects import CountInGroup, Effect, KeepBlob
from penstock.model.outcomes import Advance, Child, Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context
from penstock.model.sources.search import OpenedSource, RawAnswer, SourcePage, Sources
from penstock.pipelines.research.steps import KIND, SourceTask, for_each
from penstock.providers.configured.search import fetch_page, read_page, state_after, tools_of

# Of the headers, those that the next page or a person may need.
_KEPT_HEADERS = ("content-type", "link", "date", "x-request-id")
_SEPARATOR = b"\n\n"


async def _call(item: Item, ctx: Context) -> Outcome:
    task = SourceTask.of(item)
    source = await ctx.port(Sources).open(item.job.org_id, task.source_id)
    page = await _page(item, task, source, ctx)
    raw = page.raw
    stored = await ctx.blobs.put(_pieces(raw.body), max(1, len(raw.body)))
    following = state_after(source, task.state, page)
    document = {
        "source": task.source, "page": task.page, "url": raw.url, "status": raw.status,
        "ms": raw.ms, "bytes": len(raw.body), "blob": stored.key, "records": page.read.records,
        "total": page.read.total, "hasNext": following is not None,
        "headers": {name: raw.headers[name] for name in _KEPT_HEADERS if name in raw.headers},
    }  # fmt: skip
    spawn = []
    if following is not None:
        told = {**item.input, KIND: "page", "page": task.page + 1, "state": dict(following)}
        spawn = [Child(f"source:{task.source}:page:{task.page + 1}", told, "call")]
    effects: list[Effect] = [
        KeepBlob(stored.key, "answer", f"{item.job.id}:{item.row_no}"),
        task.progress("call", f"{task.source}: {page.read.records} records on page {task.page}"),
    ]
    shown = {KIND: item.input[KIND], "title": _title(task), "status": "answered"}
    return Advance(document, shown, spawn=spawn, effects=effects)


call = for_each(_call)


async def _page(item: Item, task: SourceTask, source: OpenedSource, ctx: Context) -> SourcePage:
    name = _cache_name(item, source)
    tools = tools_of(ctx, base_currency=task.order.base_currency)
    cached = await ctx.blobs.answers.get(name)
    if cached is not None:
        raw = _decode_answer(cached)
        return SourcePage(raw, await read_page(source, raw.body, raw.headers, tools, maps=False))
    page = await fetch_page(source, task.order.search(), task.state, tools)
    await ctx.blobs.answers.put(name, _encode_answer(page.raw))
    return page


def _cache_name(item: Item, source: OpenedSource) -> str:
    """An answer belongs to one item and to the configuration that asked for it."""
    told = f"{item.job.id}:{item.key}:{source.config.model_dump_json()}"
    return hashlib.sha256(told.encode()).hexdigest() + ".answer"


def _encode_answer(raw: RawAnswer) -> bytes:
    head = {"url": raw.url, "method": raw.method, "status": raw.status, "ms": raw.ms,
            "headers": dict(raw.headers)}  # fmt: skip
    return orjson.dumps(head) + _SEPARATOR + raw.body


def _decode_answer(content: bytes) -> RawAnswer:
    head, _, body = content.partition(_SEPARATOR)
    told: dict[str, Any] = orjson.loads(head)
    return RawAnswer(told["url"], told["method"], told["status"], told["headers"], body, told["ms"])


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _title(task: SourceTask) -> str:
    return task.source if task.page == 1 else f"{task.source}, page {task.page}"


async def _collect(item: Item, ctx: Context) -> Outcome:
    """Count what has arrived. A page that failed is reported; the pages before it stay."""
    task = SourceTask.of(item)
    document = dict(item.normalized or {})
    counts = {"calls": 1, "found": document["records"], "bytes": document["bytes"]}
    effects: list[Effect] = [
        CountInGroup(task.source, counts),
        task.progress("collect", f"{task.source}: {document['records']} records collected"),
    ]
    return Advance(document, effects=effects)


collect = for_each(_collect)
