"""Sites of companies on this machine: each has a port of its own, and a log of its requests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    # Sent as it is, instead of all of this, and the connection is closed.
    raw: bytes | None = None
    # Sent again and again until the caller hangs up.
    endless: bytes | None = None
    # Seconds between head and body.
    body_after: float = 0.0


@dataclass(frozen=True)
class Asked:
    at: float
    # By the clock of the machine, which the database shares.
    clock: float
    path: str
    headers: dict[str, str]


def product_page(name: str, price: str = "9.90", sku: str = "A-1", more: str = "") -> bytes:
    data = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": name,
        "sku": sku,
        "offers": {
            "@type": "Offer", "price": price, "priceCurrency": "EUR",
            "availability": "https://schema.org/InStock",
        },
    }  # fmt: skip
    words = " ".join(f"{word} of {name}" for word in ("details", "shipping", "returns", "reviews"))
    return (
        f'<!doctype html><html lang="en"><head><title>{name}</title>'
        f'<script type="application/ld+json">{json.dumps(data)}</script></head>'
        f"<body><h1>{name}</h1><p>{price} EUR</p><p>{words}</p>{more}</body></html>"
    ).encode()


def posting_page(title: str, place: str = "Berlin") -> bytes:
    data = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": title,
        "description": f"<p>We look for a {title}.</p>",
        "datePosted": "2026-01-15",
        "validThrough": "2026-06-30",
        "employmentType": "FULL_TIME",
        "hiringOrganization": {"@type": "Organization", "name": "Acme"},
        "jobLocation": {
            "@type": "Place",
            "address": {"@type": "PostalAddress", "addressLocality": place, "addressCountry": "DE"},
        },
    }
    return (
        f'<html lang="en"><head><script type="application/ld+json">{json.dumps(data)}</script>'
        f"</head><body><h1>{title}</h1></body></html>"
    ).encode()


class Site:
    """One company's site. ``pages`` are replies, or functions of the headers, by path."""

    def __init__(self, company: str = "acme") -> None:
        self.company = company
        self.pages: dict[str, Reply | Callable[[dict[str, str]], Reply]] = {}
        self.log: list[Asked] = []
        self.asked = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    @property
    def base(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def url(self, path: str) -> str:
        return f"{self.base}{path}"

    def paths(self) -> list[str]:
        """What was asked for, without robots.txt."""
        return [one.path for one in self.log if one.path != "/robots.txt"]

    def gaps(self) -> list[float]:
        times = [one.at for one in self.log]
        return [after - before for before, after in pairwise(times)]

    async def until_asked(self, count: int) -> None:
        async with self.asked:
            await self.asked.wait_for(lambda: len(self.paths()) >= count)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head[1:] if line)
            }
            async with self.asked:
                self.log.append(Asked(time.monotonic(), time.time(), path, headers))
                self.asked.notify_all()
            await _send(writer, self._reply(path, headers))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    def _reply(self, path: str, headers: dict[str, str]) -> Reply:
        found = self.pages.get(path)
        if found is None:
            return Reply(b"not here", 404)
        return found if isinstance(found, Reply) else found(headers)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    if reply.raw is not None:
        writer.write(reply.raw)
        await writer.drain()
        return
    headers = {"Content-Type": "text/html; charset=utf-8", **reply.headers, "Connection": "close"}
    if reply.endless is None:
        headers["Content-Length"] = str(len(reply.body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} X\r\n{lines}\r\n".encode())
    if reply.body_after:
        await writer.drain()
        await asyncio.sleep(reply.body_after)
    if reply.status != 304:
        writer.write(reply.body)
    while reply.endless is not None:
        writer.write(reply.endless)
        await writer.drain()
    await writer.drain()


@asynccontextmanager
async def sites(*companies: str) -> AsyncIterator[list[Site]]:
    async with AsyncExitStack() as stack:
        made = []
        for company in companies or ("acme",):
            site = Site(company)
            await site.start()
            stack.push_async_callback(site.close)
            made.append(site)
        yield made


def plan_of(*given: Site, paths: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """All pages of the sites, as a request has them."""
    return {
        "companies": [
            {
                "company": site.company,
                "urls": [
                    site.url(path)
                    for path in (paths or {}).get(site.company)
                    or [path for path in site.pages if path != "/robots.txt"]
                ],
            }
            for site in given
        ]
    }
