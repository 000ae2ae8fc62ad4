import { expect, test } from "vitest";
import { filterOf } from "./filter-of";

test("an export is asked for what is in sight", () => {
  expect(filterOf({})).toBe("");
  expect(filterOf({ statuses: "DONE,ERROR", q: "a b" })).toBe("statuses=DONE%2CERROR&q=a+b");
  expect(filterOf({ tab: "errors" })).toBe("");
  expect(filterOf({ tab: "errors", code: "GTIN_LOST" })).toBe("code=GTIN_LOST&statuses=ERROR%2CNOT_FOUND");
  expect(filterOf({ tab: "summary", q: "x" })).toBe("");
});
