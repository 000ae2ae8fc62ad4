import { expect, test } from "vitest";
import { lineOf } from "./lines";

test("a row is in the line of its run", () => {
  const runs = [
    [1, 4],
    [10, 15],
    [12, 0],
  ];
  expect([1, 9, 10, 11, 12, 500].map((row) => lineOf(runs, row))).toEqual([4, 12, 15, 16, null, null]);
  expect(lineOf([], 3)).toBeNull();
});
