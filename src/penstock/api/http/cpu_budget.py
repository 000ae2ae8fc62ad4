"""Requests wait here, before anything is done for them, while their org is over its processor
budget."""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from penstock.api.http.errors import problem
from penstock.api.http.identify import Authenticator
from penstock.guards.cpu_budget import CpuBudget, CpuSpending
from penstock.model.cpu.meter import Metered, begin_spending
from penstock.model.errors import RateLimited
from penstock.model.ids import new_id

# Probes of load balancers must be answered even if their network is over its budget.
_NEVER_WAIT = frozenset({"/health"})


class CpuBudgetMiddleware:
    """Admits a request by its account, charges its processor time, and slows down the parts of
    long bodies while the account owes time."""

    def __init__(self, app: ASGIApp, budget: CpuBudget, authenticator: Authenticator) -> None:
        self._app = app
        self._budget = budget
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in _NEVER_WAIT:
            await self._app(scope, receive, send)
            return
        try:
            spending = await self._budget.admit(
                self._authenticator.account_of(HTTPConnection(scope))
            )
        except RateLimited as error:
            await _refuse(error, scope, receive, send)
            return
        begin_spending(spending)
        if scope["type"] == "http":
            receive, send = _paced(spending, receive, send)
        try:
            await Metered(self._app(scope, receive, send))  # type: ignore[arg-type]
        finally:
            spending.close()


async def _refuse(error: RateLimited, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await problem(Request(scope), error)(scope, receive, send)
        return
    socket = WebSocket(scope, receive, send)
    socket.state.request_id = new_id().hex
    await socket.send_denial_response(problem(socket, error))  # type: ignore[arg-type]


def _paced(spending: CpuSpending, receive: Receive, send: Send) -> tuple[Receive, Send]:
    """Both, with a pause before each part of a body after the first."""
    begun = False

    async def paced_receive() -> Message:
        nonlocal begun
        if begun:
            await spending.pace()
        begun = True
        return await receive()

    async def paced_send(message: Message) -> None:
        if message.get("more_body"):
            await spending.pace()
        await send(message)

    return paced_receive, paced_send
