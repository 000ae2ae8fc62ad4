"""A real browser over the real server. Without Chromium on the machine these tests are skipped."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect
from tests.browser.house import PASSWORD, House

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
SAMPLE = Path(__file__).resolve().parents[2] / "frontend" / "public" / "sample.csv"
Theme = Literal["light", "dark"]
# Long, for a machine that runs other tests beside; what is there is seen at once.
expect.set_options(timeout=45_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = pytest.mark.skip(reason="Chromium is not installed: apt-get install chromium")
    # All in one event loop, which the shared browser belongs to.
    one_loop = pytest.mark.asyncio(loop_scope="session")
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            if pytest_asyncio.is_async_test(item):
                item.add_marker(one_loop, append=False)
            if _CHROMIUM is None:
                item.add_marker(missing)


@pytest.fixture(scope="package")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(os.environ["PENSTOCK_TEST_OWNER_DSN"], tmp_path_factory.mktemp("house"))
    made.open()
    yield made
    made.close()


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS)
        yield started
        await started.close()


Visit = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, house: House) -> AsyncIterator[Visit]:
    """A page of somebody signed in: ``await visit("/jobs", role="viewer")``. What the browser's
    console complains of fails the test."""
    complaints: list[str] = []
    async with AsyncExitStack() as stack:

        async def open_page(
            path: str, role: str = "member", theme: Theme = "light", width: int = 1440
        ) -> Page:
            context = await browser.new_context(
                base_url=house.url, color_scheme=theme, viewport={"width": width, "height": 900}
            )
            stack.push_async_callback(context.close)
            signed = await context.request.post(
                "/api/session", data={"email": f"{role}@acme.example", "password": PASSWORD}
            )
            assert signed.ok, await signed.text()
            page = await context.new_page()
            page.set_default_timeout(45_000)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.goto(path)
            return page

        yield open_page
    assert complaints == []
