"""Events over a web socket: one connection, any number of jobs or all of them.

A caller sends `{"subscribe": "<job id>"}` or `{"subscribe": "all"}`, with `since` to resume, and
`{"unsubscribe": …}`. It hears objects with a `type`: `subscribed`, `event`, `beat`, `error`, `end`.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from typing import Any, cast
from uuid import UUID, uuid4

import orjson
from fastapi import APIRouter, Request, WebSocket
from pydantic import Field, ValidationError, model_validator
from starlette.websockets import WebSocketDisconnect, WebSocketState

from penstock.api.http.access import Api, parse_id
from penstock.api.http.answers import strict_json
from penstock.api.http.errors import invalid, problem
from penstock.api.http.schemas import Shape
from penstock.api.live.events import parse_number, parse_place
from penstock.api.live.stream import Following, Live
from penstock.app.job_control import get_job, no_such_job
from penstock.model.errors import BadInput, PenstockError, RateLimited
from penstock.store.accounts.accounts import Principal
from penstock.store.database import CONNECTION_ERRORS

router = APIRouter()
ALL = "all"
_MOST_SUBSCRIPTIONS = 20
_PATIENCE_S = 30.0
_RETRY_MS = 2000
_RESTARTING, _NO_LONGER_ALLOWED, _TOO_SLOW, _TOO_MANY_MESSAGES = 1012, 4401, 1013, 4429

# The latter is raised for a connection that was closed while sending.
_CLOSED = (WebSocketDisconnect, RuntimeError)


class Wish(Shape):
    """A message that a client may send."""

    subscribe: str | None = Field(None, max_length=64)
    unsubscribe: str | None = Field(None, max_length=64)
    since: int | str | None = None

    @model_validator(mode="after")
    def _is_one_wish(self) -> Wish:
        if (self.subscribe is None) == (self.unsubscribe is None):
            raise ValueError("send either `subscribe` or `unsubscribe`")
        return self


@router.websocket("/ws")
async def listen(socket: WebSocket) -> None:
    api = cast(Api, socket.app.state.api)
    live = cast(Live, socket.app.state.live)
    socket.state.request_id = uuid4().hex
    try:
        who = await api.authenticator.identify(socket)
        live.tail.require_open()
        turn = await api.turns.enter_stream(who)
    except PenstockError as error:
        await socket.send_denial_response(problem(cast(Request, socket), error))
        return
    try:
        await socket.accept()
        await Conversation(socket, live, who).run()
    finally:
        turn.release()


class Conversation:
    """One connection: its subscriptions, and a task for each of its streams."""

    def __init__(self, socket: WebSocket, live: Live, who: Principal) -> None:
        self._socket = socket
        self._live = live
        self._who = who
        self._caller = live.caller(socket, who)
        self._streams: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    async def run(self) -> None:
        asking = asyncio.ensure_future(self._receive())
        try:
            while await self._goes_on():
                await asyncio.wait({asking}, timeout=self._live.authorizer.every_s)
                if asking.done():
                    await self._hear(asking.result())
                    asking = asyncio.ensure_future(self._receive())
        except _CLOSED:
            if self._socket.client_state is WebSocketState.CONNECTED:
                raise
        finally:
            for task in (asking, *self._streams.values()):
                task.cancel()
            ended = await asyncio.gather(asking, *self._streams.values(), return_exceptions=True)
            for one in ended:
                if isinstance(one, Exception) and not isinstance(one, _CLOSED):
                    self._live.api.runtime.log.error("a stream broke", exc_info=one)

    async def _receive(self) -> str | None:
        """The next message; None for one that is not text."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"], message.get("reason"))
        text: str | None = message.get("text")
        return text

    async def _goes_on(self) -> bool:
        if self._live.tail.closed:
            await self._close(_RESTARTING, "try another server, or this one again")
            return False
        if not await self._live.authorizer.lets(self._caller):
            await self._close(_NO_LONGER_ALLOWED, "your access has changed")
            return False
        return self._socket.application_state is WebSocketState.CONNECTED

    async def _hear(self, text: str | None) -> None:
        topic = None
        try:
            # Every message counts as a request.
            self._live.api.authenticator.charge(self._who)
        except RateLimited as error:
            await self._close(_TOO_MANY_MESSAGES, error.message)
            return
        try:
            wish = _wish(text)
            topic = wish.subscribe or wish.unsubscribe
            if wish.unsubscribe is not None:
                self._leave(wish.unsubscribe)
                await self._say({"type": "unsubscribed", "topic": topic})
            elif wish.subscribe is not None:
                await self._subscribe(wish.subscribe, wish.since)
        except PenstockError as error:
            told = {"code": error.code, "message": error.message}
            await self._say({"type": "error", "topic": topic, "error": told})

    async def _subscribe(self, topic: str, since: int | str | None) -> None:
        # With the current rights of the caller.
        await self._live.api.authenticator.recognise(self._socket)
        self._streams = {name: task for name, task in self._streams.items() if not task.done()}
        if topic not in self._streams and len(self._streams) >= _MOST_SUBSCRIPTIONS:
            raise BadInput(
                "TOO_MANY_SUBSCRIPTIONS", f"At most {_MOST_SUBSCRIPTIONS} in one connection."
            )
        following = await self._following(topic, since)
        self._leave(topic)
        self._streams[topic] = asyncio.create_task(self._stream(topic, following))

    async def _following(self, topic: str, since: int | str | None) -> Following:
        if topic == ALL:
            return self._live.follow_all(self._caller, parse_place(str(since or "")))
        job_id = parse_id(topic)
        if job_id is None:
            raise no_such_job()
        async with self._live.api.db.scoped(self._caller.scope, readonly=True) as conn:
            await get_job(conn, job_id)
        return self._live.follow_job(self._caller, UUID(topic), parse_number(str(since or 0)))

    def _leave(self, topic: str) -> None:
        task = self._streams.pop(topic, None)
        if task is not None:
            task.cancel()

    async def _stream(self, topic: str, following: Following) -> None:
        begun = False
        try:
            async with aclosing(following.pages()) as pages:
                async for page in pages:
                    for one in page:
                        told = {"type": "event", "topic": topic, "id": following.id_of(one)}
                        await self._say(told | {"event": orjson.Fragment(one.body)})
                    if not page:
                        kind = "beat" if begun else "subscribed"
                        await self._say({"type": kind, "topic": topic, "id": following.cursor})
                    begun = True
        except CONNECTION_ERRORS as error:
            self._live.api.runtime.log.warning("a stream ends early", error=repr(error))
        except TimeoutError:
            await self._close(_TOO_SLOW, "nothing was read for too long")
            return
        wait = random.randint(_RETRY_MS // 2, _RETRY_MS * 2)
        await self._say({"type": "end", "topic": topic, "id": following.cursor, "retryMs": wait})

    async def _say(self, told: dict[str, Any]) -> None:
        """Send whole messages, one after the other, to a client that reads them."""
        async with self._turn:
            if self._socket.application_state is WebSocketState.CONNECTED:
                text = orjson.dumps(told, option=orjson.OPT_UTC_Z).decode()
                async with asyncio.timeout(_PATIENCE_S):
                    await self._socket.send_text(text)

    async def _close(self, code: int, reason: str) -> None:
        if self._socket.application_state is WebSocketState.CONNECTED:
            await self._socket.close(code, reason)


def _wish(text: str | None) -> Wish:
    if text is None:
        raise BadInput("INVALID_JSON", "Send messages as text, not as bytes.")
    try:
        return Wish.model_validate(strict_json(text.encode(), "The message"))
    except ValidationError as error:
        raise invalid(error.errors()) from error
