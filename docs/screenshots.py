"""Make docs/screenshots again: every page in both themes, and the way from a file to products.

`python docs/screenshots.py URL EMAIL PASSWORD`, over an installation with something in it: jobs
that are done, one of them with errors, and products."""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.async_api import Browser, Page, async_playwright

_HERE = Path(__file__).resolve().parent / "screenshots"
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_PAGES = {
    "jobs": "/jobs",
    "pending": "/pending",
    "dead-letters": "/dead-letters",
    "products": "/products",
    "monitor": "/monitor",
    "connections": "/connections",
    "shop": "/new?source=shop",
    "runs": "/runs",
    "postings": "/postings",
    "webhooks": "/webhooks",
    "keys": "/settings/keys",
    "profiles": "/settings/profiles",
    "account": "/settings/account",
    "users": "/settings/users",
    "audit": "/settings/audit",
    "new": "/new",
}
# Time for what a page asks the server, and for skeletons to go.
_SETTLED_MS = 1200
# Screens have few colours, and these are many files.
_EXACT = 128


async def main(url: str, email: str, password: str) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=_FLAGS
        )
        for theme in ("light", "dark"):
            page = await _signed_in(browser, url, email, password, theme)
            await _pages(page, theme)
            if theme == "light":
                await _job(page)
                await _wizard(page)
            await page.context.close()
        await browser.close()


async def _signed_in(browser: Browser, url: str, email: str, password: str, theme: str) -> Page:
    context = await browser.new_context(
        base_url=url,
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": 1280, "height": 720},
    )
    page = await context.new_page()
    await page.goto("/login")
    await _keep(page, f"login-{theme}")
    await page.get_by_label("E-mail").fill(email)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/jobs**")
    return page


async def _pages(page: Page, theme: str) -> None:
    for name, path in _PAGES.items():
        await page.goto(path)
        await _keep(page, f"{name}-{theme}")
    await page.goto("/products")
    # One with a picture, if there is any.
    with_picture = page.locator("tbody tr").filter(has=page.locator("img")).locator("a")
    found = with_picture if await with_picture.count() else page.locator("tbody a")
    await found.first.click()
    await _keep(page, f"product-{theme}")
    await page.goto(f"/jobs/{await _job_with_errors(page)}")
    await _keep(page, f"job-{theme}")


async def _job_with_errors(page: Page) -> str:
    listed = await (await page.request.get("/api/jobs?state=done&pageSize=100")).json()
    jobs = sorted(listed["items"], key=lambda one: one["counters"]["error"] == 0)
    return str(jobs[0]["id"])


async def _job(page: Page) -> None:
    job = await _job_with_errors(page)
    await page.goto(f"/jobs/{job}?tab=errors")
    await _keep(page, "errors")
    listed = await (await page.request.get(f"/api/jobs/{job}/items?statuses=ERROR")).json()
    await page.goto(f"/jobs/{job}?tab=errors&row={listed['items'][0]['rowNo']}")
    await _keep(page, "row")


async def _wizard(page: Page) -> None:
    await page.goto("/new")
    await page.get_by_role("button", name="Try it with a sample file").click()
    await page.get_by_text("Read as").wait_for()
    await page.get_by_role("button", name="End tour").click()
    for step, name in (("Columns", "columns"), ("Dry run", "dry-run"), ("Start", "start")):
        await page.get_by_role("button", name=step).last.click()
        if name == "start":
            await page.get_by_label("Create and update").check()
        await _keep(page, name)


async def _keep(page: Page, name: str) -> None:
    await page.wait_for_timeout(_SETTLED_MS if "product" not in name else 4 * _SETTLED_MS)
    shot = Image.open(io.BytesIO(await page.screenshot())).convert("RGB")
    shot.quantize(palette=_palette(shot), dither=Image.Dither.NONE).save(
        _HERE / f"{name}.png", optimize=True
    )


def _palette(shot: Image.Image) -> Image.Image:
    """The commonest colours as they are, since a tint of a whole page is seen; the rest are shades
    at the edges of letters, and share what is left."""
    counted = sorted(shot.getcolors(shot.width * shot.height) or [], reverse=True)
    common = [colour for _, colour in counted[:_EXACT]]
    chosen = [part for colour in common for part in colour]
    rare = [colour for _, colour in counted[_EXACT:]]
    if rare:
        shades = Image.new("RGB", (len(rare), 1))
        shades.putdata(rare)
        chosen += (shades.quantize(256 - _EXACT).getpalette() or [])[: 3 * (256 - _EXACT)]
    made = Image.new("P", (1, 1))
    made.putpalette(chosen)
    return made


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
