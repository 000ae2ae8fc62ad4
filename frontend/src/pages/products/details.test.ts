import { expect, test } from "vitest";
import { furtherPrices, measuresOf, priceWithUnit, tiersOf, variantsOf } from "./details";

const product = {
  price: {
    amount: "523.00",
    currency: "EUR",
    unit: "100 piece",
    recommended: "9.90",
    taxRate: 19,
    taxIncluded: false,
    perUnit: { amount: "5.23", unit: "piece" },
    tiers: [{ minQuantity: 10, amount: "500.00" }],
  },
  availability: { status: "in_stock", quantity: 12, leadTimeDays: 3 },
  specifications: {
    weight: { value: 1.5, unit: "kg" },
    dimensions: { length: 10, width: 5, unit: "cm" },
    pack: { count: 6, size: 0.5, unit: "l", total: 3, totalUnit: "l" },
  },
  variants: [
    {
      options: { color: "red", size: "M" },
      identifiers: { sku: "A-R-M", gtin: "4006381333931" },
      price: { amount: "12.00" },
      availability: { quantity: 4 },
    },
  ],
};

test("price, unit, tiers and further prices", () => {
  expect(priceWithUnit(product)).toBe("523.00 EUR per 100 piece");
  expect(priceWithUnit({ price: { onRequest: true } })).toBe("on request");
  expect(priceWithUnit({})).toBe("");
  expect(tiersOf(product)).toEqual([{ from: "10", price: "500.00 EUR" }]);
  expect(furtherPrices(product)).toEqual([
    ["Recommended price", "9.90 EUR"],
    ["Price per unit", "5.23 EUR per piece"],
    ["Tax", "19 %, not included"],
  ]);
});

test("measures and variants", () => {
  expect(measuresOf(product)).toEqual([
    ["Weight", "1.5 kg"],
    ["Dimensions", "10 × 5 cm (length, width)"],
    ["Pack", "6 × 0.5 l = 3 l"],
    ["Stock", "12"],
    ["Lead time", "3 days"],
  ]);
  expect(variantsOf(product)).toEqual([
    { name: "color: red, size: M", sku: "A-R-M", gtin: "4006381333931", price: "12.00 EUR", stock: "4" },
  ]);
  expect(variantsOf({ variants: "none" })).toEqual([]);
});
