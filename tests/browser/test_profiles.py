"""A profile is edited as a form, with the TOML as its other view."""

from __future__ import annotations

import re
from typing import Any

from playwright.async_api import expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations

BODY: dict[str, Any] = {
    "source": "formular",
    "columns": {
        "Form-Nr.": {"target": "identifiers.sku"},
        "Form-Name": {"target": "title"},
        "Form-Preis": {"target": "price.amount"},
        "ab 10": {"target": None},
    },
    "rules": {"type": "object", "properties": {"brand": {"type": ["string", "null"]}}},
}


async def test_a_profile_is_edited_as_a_form(visit: Visit, house: House) -> None:
    with house.client() as client:
        assert client.put("/api/profiles/formular", json=BODY).status_code == 200
        page = await visit("/settings/profiles?profile=formular")
        form = page.get_by_role("dialog", name="formular")
        currency = form.get_by_role("region", name="Numbers, dates and units").get_by_label(
            "Currency"
        )
        await currency.fill("EURO")
        await form.get_by_role("button", name="Save as a new version").click()
        await expect(currency).to_have_attribute("aria-invalid", "true")
        await expect(form.get_by_text("'EURO' is not a currency")).to_be_visible()
        assert await violations(page) == []
        await currency.fill("EUR")

        await form.get_by_label("Field that ab 10 fills").select_option(
            label="Price from a quantity"
        )
        await form.get_by_label("Add: Strict field").select_option("availability.quantity")
        await form.get_by_label("Add: Required field").select_option("brand")
        await form.get_by_label("Field of the word").select_option("availability.quantity")
        await form.get_by_label("Word in the file").fill("Auslauf")
        await form.get_by_label("Read as", exact=True).fill("0")
        await form.get_by_role("button", name="Add word").click()
        await form.get_by_label("Hold back price changes above").fill("20")
        await form.get_by_role("button", name="Values of Form-Preis").click()
        await form.get_by_label("Tax").select_option("false")

        await form.get_by_role("radio", name="TOML").click()
        text = form.get_by_label("Profile as TOML")
        await expect(text).to_have_value(re.compile("price_guard = 20"))
        shown = await text.input_value()
        await text.fill(shown.replace('winner = "first"', 'winner = "last"'))
        await form.get_by_role("radio", name="Form").click()
        await expect(form.get_by_label("Of several rows with one product")).to_have_value("last")
        await form.get_by_role("button", name="Save as a new version").click()
        await expect(form).to_have_count(0)

        saved = client.get("/api/profiles/formular").json()
    assert (saved["version"], saved["currency"], saved["winner"]) == (2, "EUR", "last")
    assert saved["columns"]["ab 10"]["target"] == "price.tiers.10"
    assert saved["columns"]["Form-Preis"]["tax_included"] is False
    assert (saved["required"], saved["price_guard"]) == (["brand"], 20)
    assert saved["strict"] == ["price.amount", "availability.quantity"]
    assert saved["values"] == {"availability.quantity": {"auslauf": "0"}}
    # What the form does not show is kept.
    assert saved["rules"] == BODY["rules"]

    file = house.folder / "formular.csv"
    file.write_text("Form-Nr.;Form-Name;Form-Preis;ab 10\nFO-1;Dose;2,00;1,50\n")
    job = house.wait_for(house.upload(file))
    assert (job["source"], job["profile"]) == ("formular", {"name": "formular", "version": 2})
    page = await visit(f"/jobs/{job['id']}")
    await expect(page.get_by_role("link", name="formular").first).to_be_visible()
    await page.get_by_role("link", name="formular").nth(1).click()
    await expect(page.get_by_role("dialog", name="formular")).to_be_visible()
