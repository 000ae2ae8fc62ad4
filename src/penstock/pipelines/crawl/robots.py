"""Which pages the robots.txt of their sites allow, as known or read now."""

from __future__ import annotations

from penstock.model.crawl.pages import CrawlSettings, KeepRobots, PageIndex
from penstock.model.crawl.robots import RobotsRules
from penstock.model.ports import Context
from penstock.pipelines.crawl.requests import fetch_robots, origin_of


class RobotsGate:
    """The rules of sites for one item; ``read`` are those that were not known, to be kept."""

    def __init__(self, ctx: Context, org_id: int) -> None:
        self._ctx = ctx
        self._org_id = org_id
        self._agent = ctx.port(CrawlSettings).user_agent
        self._known: dict[str, RobotsRules] = {}
        self.read: list[KeepRobots] = []

    async def known(self, url: str) -> RobotsRules | None:
        """The rules of the URL's site, if they were read within the last day."""
        origin = origin_of(url)
        if origin not in self._known:
            index = self._ctx.port(PageIndex)
            found = await index.robots(self._org_id, origin, self._agent)
            if found is None:
                return None
            self._known[origin] = found
        return self._known[origin]

    async def rules(self, url: str) -> RobotsRules:
        """The rules of the URL's site, read now if they are not known."""
        found = await self.known(url)
        if found is None:
            origin = origin_of(url)
            found = await fetch_robots(self._ctx, origin, self._agent)
            self._known[origin] = found
            self.read.append(KeepRobots(origin, self._agent, found))
        return found

    async def allows(self, url: str) -> bool:
        return (await self.rules(url)).allows(url)
