import { expect, test } from "vitest";
import type { JobEvent } from "./api";
import { bodyOf, lowestPrice, sourceStates } from "./research";

function event(data: Record<string, unknown>): JobEvent {
  return { event: "research.progress", data } as unknown as JobEvent;
}

test("a form becomes a request without empty fields", () => {
  const form = new FormData();
  form.set("query", " M8 bolts ");
  form.set("categories", "bolts, screws,");
  form.set("max", "0.2");
  form.set("currency", "eur");
  form.set("region", "");
  form.append("sources", "one");
  expect(bodyOf(form)).toEqual({
    query: "M8 bolts",
    categories: ["bolts", "screws"],
    priceRange: { max: 0.2, currency: "EUR" },
    sources: ["one"],
  });
});

test("the progress of a source never falls", () => {
  const first = sourceStates({}, [event({ source: "a", progress: 50, stage: "call", message: "x" })]);
  const later = sourceStates(first, [
    event({ source: "a", progress: 10, stage: "validate", message: "y" }),
    event({ progress: 90, stage: "store", message: "whole" }),
  ]);
  expect(later.a?.progress).toBe(50);
  expect(Object.keys(later)).toEqual(["a"]);
});

test("the lowest price is of those that can be compared", () => {
  expect(lowestPrice([])).toBeNull();
  expect(
    lowestPrice([
      { source: "a", comparablePrice: { amount: "3" } },
      { source: "b", price: { amount: "1" } },
      { source: "c", comparablePrice: { amount: "2.5" } },
    ]),
  ).toBe(2.5);
});
