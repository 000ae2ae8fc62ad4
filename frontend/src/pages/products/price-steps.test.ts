import { expect, test } from "vitest";
import { stepPath } from "./price-steps";

test("a price stays until the next change, and until now", () => {
  const { path, dots } = stepPath([0, 50], [10, 20], 100, 200, 100);
  expect(dots).toEqual([
    [0, 94],
    [100, 6],
  ]);
  expect(path).toBe("M0 94H100V6H200");
});

test("one price, or equal ones, are a flat line", () => {
  expect(stepPath([0], [5], 10, 100, 100).path).toBe("M0 94H100");
  expect(stepPath([], [], 10, 100, 100).path).toBe("");
});
