import { expect, test } from "vitest";
import { share } from "./format";

test("a column with one empty cell is not full", () => {
  expect(share(1)).toBe("100 %");
  expect(share(0.9967)).toBe("99 %");
  expect(share(0.5)).toBe("50 %");
  expect(share(0)).toBe("0 %");
});
