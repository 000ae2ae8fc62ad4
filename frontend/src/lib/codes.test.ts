import { expect, test } from "vitest";
import { codeLabel, isSkip } from "./codes";

test("codes are read as words", () => {
  expect(codeLabel("GTIN_CHECK_DIGIT")).toBe("GTIN check digit");
  expect(codeLabel("PRICE_UNREADABLE")).toBe("Price unreadable");
  expect(codeLabel("HEADING")).toBe("Heading");
});

test("headings and duplicates are not errors", () => {
  expect(["HEADING", "DUPLICATE_IN_FILE", "PRICE_UNREADABLE"].map(isSkip)).toEqual([true, true, false]);
});
