"""The sandbox as a whole: routes calls to shops, sources and pictures, and counts them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from penstock.providers.sandbox import faults, roastify, shopify, sources, woocommerce
from penstock.providers.sandbox.catalog import catalog_of
from penstock.providers.sandbox.faults import FaultPlan, Faults
from penstock.providers.sandbox.http import HttpServer, Request, Response
from penstock.providers.sandbox.pictures import picture
from penstock.providers.sandbox.shop import Answer, Asked, Shop
from penstock.providers.sandbox.stats import Stats

SHOPS = ("shopify", "woocommerce", "roastify")
SOURCES = ("json", "xml", "csv")
DEMO = "demo"
_ANSWERS: dict[str, Callable[[Asked], Answer]] = {
    "shopify": shopify.answer,
    "woocommerce": woocommerce.answer,
    "roastify": roastify.answer,
    "sources": sources.answer,
}
CREDENTIALS: dict[str, Callable[[Shop], dict[str, str]]] = {
    "shopify": shopify.credentials_of,
    "woocommerce": woocommerce.credentials_of,
    "roastify": roastify.credentials_of,
}


@dataclass
class Sandbox:
    """``products`` is the size of every shop, unless its name says another one."""

    products: int = 50
    seed: int = 1
    fault_share: float = 0.0
    shops: dict[tuple[str, str], Shop] = field(default_factory=dict)
    stats: Stats = field(default_factory=Stats)
    url: str = ""

    def __post_init__(self) -> None:
        self.faults = Faults(FaultPlan(self.fault_share), self.seed)
        self._server = HttpServer(self.answer)

    async def start(self, port: int = 0) -> str:
        self.url = f"http://127.0.0.1:{await self._server.start(port)}"
        return self.url

    async def close(self) -> None:
        await self._server.close()

    def shop(self, provider: str, name: str = DEMO) -> Shop:
        """Shops exist as soon as they are named."""
        found = self.shops.get((provider, name))
        if found is None:
            # The sources offer one range.
            range_name = "market" if provider == "sources" else name
            found = self.shops[provider, name] = Shop(
                provider, name, f"{self.url}/{provider}/{name}", self.url,
                catalog_of(self.seed, range_name, self.products),
            )  # fmt: skip
        return found

    def description(self, count: int = 1) -> dict[str, Any]:
        """What `penstock sandbox --json` prints."""
        names = [DEMO, *(f"{DEMO}{n}" for n in range(2, count + 1))]
        return {
            "url": self.url,
            "shops": [
                {
                    "provider": provider,
                    "address": self.shop(provider, name).base,
                    "credentials": CREDENTIALS[provider](self.shop(provider, name)),
                }
                for name in names
                for provider in SHOPS
            ],
            "sources": [sources.description(self.shop("sources", name)) for name in SOURCES],
        }

    async def answer(self, request: Request) -> Response:
        first, _, rest = request.path.removeprefix("/").partition("/")
        if first == "sandbox":
            return self._control(request, rest)
        if first == "pictures":
            return await self._counted(first, rest.partition("/")[0], request, self._picture)
        if first not in _ANSWERS:
            return Response.json({"errors": "Not Found"}, 404)
        name, _, path = rest.partition("/")
        if first == "sources" and name not in SOURCES:
            return Response.json({"errors": "Not Found"}, 404)
        asked = Asked(self.shop(first, name), f"/{path}", request)
        return await self._counted(first, name, request, lambda _: _ANSWERS[first](asked))

    async def _counted(
        self, provider: str, shop: str, request: Request, act: Callable[[Request], Answer]
    ) -> Response:
        self.stats.note(provider, shop, calls=1)
        fault = self.faults.choose(provider, shop)
        if fault is not None:
            self.stats.faults[fault] += 1
            self.stats.note(provider, shop, faults=1)
            instead = await faults.before(fault)
            if instead is not None:
                return instead
        try:
            answered = act(request)
        except (ValueError, KeyError, TypeError) as error:
            return Response.json({"errors": f"Bad Request: {error}"}, 400)
        if answered.violation or answered.refused:
            self.stats.note(provider, shop, violations=answered.violation, refused=answered.refused)
            return answered.response
        response = await faults.after(fault, answered.response) if fault else answered.response
        if response is answered.response and response.status < 300:
            self.stats.note_answered(provider, shop, request, poll=answered.poll)
        return response

    def _picture(self, request: Request) -> Answer:
        name = request.path.removeprefix("/pictures/")
        if not name.endswith(".jpg"):
            return Answer(Response.json({"errors": "Not Found"}, 404))
        return Answer(Response(200, picture(self.seed, name), "image/jpeg"))

    def _control(self, request: Request, path: str) -> Response:
        try:
            match request.method, path:
                case "GET", "stats":
                    return Response.json(self.stats.as_json())
                case "POST", "stats/reset":
                    self.stats = Stats()
                    return Response.json(self.stats.as_json())
                case "GET", "faults":
                    return Response.json(self.faults.plan.as_json())
                case "POST", "faults":
                    self.faults.plan = FaultPlan.of(request.json())
                    return Response.json(self.faults.plan.as_json())
                case "GET", "shops":
                    return Response.json(self.description())
                case "POST", "products":
                    return self._change(request.json())
        except (ValueError, KeyError, TypeError) as error:
            return Response.json({"error": str(error)}, 400)
        return Response.json({"error": "not found"}, 404)

    def _change(self, told: dict[str, Any]) -> Response:
        """Change or delete products, by their numbers from 1."""
        shop = self.shop(str(told["provider"]), str(told.get("shop", DEMO)))
        now = datetime.now(UTC)
        changed = [int(one) for one in told.get("change", ())]
        deleted = [int(one) for one in told.get("delete", ())]
        shop.changed_at |= dict.fromkeys(changed, now)
        shop.deleted |= set(deleted)
        return Response.json({"changed": len(changed), "deleted": len(deleted)})


async def serve(sandbox: Sandbox, port: int, told: Callable[[str], None]) -> None:
    """Serve until the task is cancelled. ``told`` gets the address once it can be called."""
    told(await sandbox.start(port))
    try:
        await asyncio.Event().wait()
    finally:
        await sandbox.close()
