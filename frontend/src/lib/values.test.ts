import { expect, test } from "vitest";
import { valueText } from "./values";

test("price tiers, measures and lists are texts", () => {
  const tiers = [
    { minQuantity: 1, amount: "2.00" },
    { amount: "1.90", minQuantity: 10 },
  ];
  expect(valueText(tiers)).toBe("1+: 2.00; 10+: 1.90");
  expect(valueText({ length: "20", width: "5", unit: "mm" })).toBe("20 × 5 mm");
  expect(valueText({ value: "1.5", unit: "kg" })).toBe("1.5 kg");
  expect(valueText(["red", "new"])).toBe("red, new");
  expect(valueText([{ sku: "A-1", options: { Size: "S" } }])).toBe("SKU: A-1, Options: Size: S");
  expect(valueText(false)).toBe("no");
  expect(valueText(null)).toBe("");
});
