"""Pictures of products in the browser: shown by our own server, or a reason why not."""

from __future__ import annotations

import io
import re

from PIL import Image
from playwright.async_api import Request, expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.guards.servers import answering, serving


def picture(colour: tuple[int, int, int]) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (1200, 900), colour).save(made, "JPEG")
    return made.getvalue()


async def test_pictures_are_shown_and_suppliers_see_nobody(visit: Visit, house: House) -> None:
    red, blue = picture((200, 30, 30)), picture((30, 30, 200))
    async with (
        serving(answering(body=red)) as one,
        serving(answering(body=blue)) as two,
        serving(answering("404 Not Found")) as gone,
    ):
        urls = [f"http://127.0.0.1:{server.port}/p.jpg" for server in (one, two, gone)]
        file = house.folder / "pictures.csv"
        file.write_text(f"SKU;Title;Image\nPI-1;Red saw;{'|'.join(urls)}\nPI-2;Bare saw;\n")
        house.wait_for(house.upload(file, config='{"intent": "merge"}'))
        page = await visit("/products?q=PI-")
        asked: list[str] = []

        def note(request: Request) -> None:
            asked.append(request.url)

        page.on("request", note)
        row = page.get_by_role("row").filter(has_text="PI-1")
        await expect(row.locator("img")).to_have_js_property("naturalWidth", 96)
        await expect(page.get_by_role("row").filter(has_text="PI-2").locator("img")).to_have_count(
            0
        )
        await row.get_by_role("link").click()

        shown = page.get_by_role("region", name="Pictures")
        large = shown.get_by_role("img", name="Picture of the product")
        await expect(large).to_have_js_property("naturalWidth", 960)
        await shown.get_by_role("button", name="Picture 2 of 3").click()
        await expect(large).to_have_js_property("naturalWidth", 960)
        await shown.get_by_role("button", name="Picture 3 of 3").click()
        await expect(shown.get_by_role("status")).to_contain_text("server answers with 404")
        await expect(shown.get_by_role("link", name=re.compile(r"p\.jpg$"))).to_have_attribute(
            "href", urls[2]
        )
        assert [url for url in asked if not url.startswith(house.url)] == []
        assert (one.connections, two.connections, gone.connections) == (1, 1, 1)
