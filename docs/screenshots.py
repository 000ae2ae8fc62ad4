"""Make docs/screenshots anew: every page in both themes.

`python docs/screenshots.py URL EMAIL PASSWORD`, over an installation with something in it."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

from playwright.async_api import Browser, Page, async_playwright

_HERE = Path(__file__).resolve().parent / "screenshots"
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_PAGES = {
    "jobs": "/jobs",
    "pending": "/pending",
    "dead-letters": "/dead-letters",
    "products": "/products",
    "monitor": "/monitor",
    "webhooks": "/webhooks",
    "keys": "/settings/keys",
    "profiles": "/settings/profiles",
    "account": "/settings/account",
    "users": "/settings/users",
    "audit": "/settings/audit",
    "new": "/new",
}
# Time for what a page asks the server, and for skeletons to go.
_SETTLED_MS = 900


async def main(url: str, email: str, password: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=_FLAGS
        )
        for theme in ("light", "dark"):
            await _shoot(browser, url, email, password, theme)
        await browser.close()


async def _shoot(browser: Browser, url: str, email: str, password: str, theme: str) -> None:
    context = await browser.new_context(
        base_url=url,
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": 1280, "height": 720},
    )
    page = await context.new_page()
    await page.goto("/login")
    await page.wait_for_timeout(_SETTLED_MS)
    await _keep(page, f"login-{theme}")
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/jobs**")
    for name, path in _PAGES.items():
        await page.goto(path)
        await page.wait_for_timeout(_SETTLED_MS)
        await _keep(page, f"{name}-{theme}")
    await _follow(page, "/products", "tbody a", f"product-{theme}")
    await _follow(page, "/jobs?state=done", "tbody a", f"job-{theme}")
    await context.close()


async def _follow(page: Page, path: str, link: str, name: str) -> None:
    await page.goto(path)
    await page.locator(link).first.click()
    await page.wait_for_timeout(_SETTLED_MS)
    await _keep(page, name)


async def _keep(page: Page, name: str) -> None:
    await page.screenshot(path=_HERE / f"{name}.png")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
