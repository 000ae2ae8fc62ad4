import { expect, test } from "vitest";
import { amount, share } from "./format";

test("a column with one empty cell is not full", () => {
  expect(share(1)).toBe("100 %");
  expect(share(0.9967)).toBe("99 %");
  expect(share(0.5)).toBe("50 %");
  expect(share(0)).toBe("0 %");
});

test("cents have two digits", () => {
  expect(amount("142.8")).toBe("142.80");
  expect(amount("142.85")).toBe("142.85");
  expect(amount("0.005")).toBe("0.005");
  expect(amount("142")).toBe("142");
  expect(amount("on request")).toBe("on request");
});
