import { expect, test } from "vitest";
import { clearLinks, differenceText, priceDifference } from "./links";

const eur = (amount: string) => ({ amount, currency: "EUR" });

test("prices are compared in one currency only", () => {
  expect(priceDifference(eur("10.00"), eur("12.50"))).toBe(25);
  expect(priceDifference(eur("10.00"), { amount: "12.50", currency: "USD" })).toBeNull();
  expect(priceDifference(eur("0"), eur("1"))).toBeNull();
  expect(priceDifference(null, eur("1"))).toBeNull();
  const hundred = { ...eur("12.00"), unit: "100 piece", perUnit: { amount: "0.12", unit: "piece" } };
  expect(priceDifference(hundred, eur("0.18"))).toBeCloseTo(50);
  expect(priceDifference(hundred, { ...eur("6.00"), unit: "100 piece" })).toBe(-50);
  expect(priceDifference(eur("1"), { ...eur("2"), unit: "kg" })).toBeNull();
  expect(priceDifference({ amount: "x", currency: "EUR" }, eur("1"))).toBeNull();
});

test("the difference is a text with a sign", () => {
  expect(differenceText(eur("10"), eur("10.32"))).toBe("+3.2 %");
  expect(differenceText(eur("10"), eur("9"))).toBe("−10 %");
  expect(differenceText(eur("10"), eur("10.00"))).toBe("same price");
  expect(differenceText(null, eur("10"))).toBe("");
});

test("links of a product that resembles several of one source are not clear", () => {
  const link = (product: string, source: string, other: string) => ({
    product: { source: "bolt", sourceId: product },
    other: { source, sourceId: other },
  });
  const [one, other] = [link("B-1", "acme", "A-1"), link("B-1", "coil", "C-1")];
  expect(clearLinks([one, other])).toEqual([one, other]);
  expect(clearLinks([one, other, link("B-1", "acme", "A-2")])).toEqual([other]);
  expect(clearLinks([one, other, link("B-2", "acme", "A-1")])).toEqual([other]);
});
