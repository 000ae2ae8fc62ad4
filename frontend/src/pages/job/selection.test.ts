import { describe, expect, it } from "vitest";
import { addAll, holds, isEmpty, MOST_ROWS, NOTHING, toggle } from "./selection";

describe("selection", () => {
  it("takes single rows and ranges, and lets them go again", () => {
    const some = toggle(toggle(NOTHING, 3, false), 7, true);
    expect([...some.rows].sort()).toEqual([3, 4, 5, 6, 7]);
    expect(holds(toggle(some, 5, false), 5)).toBe(false);
    expect(isEmpty(toggle(toggle(NOTHING, 3, false), 3, false))).toBe(true);
  });

  it("never names more rows than one call takes", () => {
    expect(
      addAll(
        NOTHING,
        Array.from({ length: 9000 }, (_, n) => n + 1),
      ).rows.size,
    ).toBe(MOST_ROWS);
  });

  it("goes from everything to one row", () => {
    const one = toggle({ all: true, rows: new Set(), last: null }, 9, false);
    expect([one.all, [...one.rows]]).toEqual([false, [9]]);
  });
});
