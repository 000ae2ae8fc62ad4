import { expect, test } from "vitest";
import { filterOf, sortOf } from "./products";

test("filters are taken from the address, several at once", () => {
  const job = "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d";
  expect(filterOf({ source: "acme", brand: "Bosch", status: "published", job, edited: "true" })).toEqual({
    source: "acme",
    brand: "Bosch",
    status: "published",
    jobId: job,
    edited: true,
  });
});

test("what the API would refuse is left out", () => {
  expect(filterOf({ status: "gone", job: "x", linked: "maybe", q: "" })).toEqual({});
  expect(sortOf({ sort: "colour" })).toEqual({});
  expect(sortOf({ sort: "-price" })).toEqual({ sort: "-price" });
});
