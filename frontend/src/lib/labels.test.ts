import { expect, it } from "vitest";
import { price, priceForUnit } from "../pages/products/price";
import { fieldLabel, gtin, label } from "./labels";

it("names fields as people do", () => {
  expect(
    ["sku", "brand", "leadTimeDays", "countryOfOrigin", "Delivery (days)", "Art.-Nr."].map(label),
  ).toEqual(["SKU", "Brand", "Lead time, days", "Country of origin", "Delivery (days)", "Art.-Nr."]);
});

it("names a field by its path", () => {
  expect(
    ["title", "identifiers.sku", "price.amount", "price.unit", "availability.leadTimeDays", "images.2"].map(
      fieldLabel,
    ),
  ).toEqual(["Title", "SKU", "Price", "Price, unit", "Availability, lead time, days", "Images 2"]);
});

it("shows a GTIN as long as it was printed", () => {
  expect(gtin("04006381333931")).toBe("4006381333931");
  expect(gtin("00012345678905")).toBe("012345678905");
  expect(gtin("00000040123455")).toBe("40123455");
  expect(gtin("14006381333938")).toBe("14006381333938");
  expect(gtin(null)).toBe("");
});

it("groups the digits of an amount, and changes none", () => {
  expect(price({ amount: "1249.00", currency: "EUR" })).toBe("1,249.00 EUR");
  expect(price({ amount: "-1234567.5", currency: "USD" })).toBe("-1,234,567.5 USD");
  expect(price({ amount: 0.18, currency: null })).toBe("0.18");
  expect(price({ amount: null })).toBe("");
  expect(price(null)).toBe("");
  expect(priceForUnit({ amount: "12.40", currency: "EUR", unit: "100 piece" })).toBe(
    "12.40 EUR per 100 piece",
  );
  expect(priceForUnit({ amount: "12.40", currency: "EUR", unit: "piece" })).toBe("12.40 EUR");
});
