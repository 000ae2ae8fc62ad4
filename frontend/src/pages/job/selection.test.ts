import { describe, expect, it } from "vitest";
import { holds, isEmpty, MOST_ROWS, NOTHING, toggle } from "./selection";

describe("selection", () => {
  it("takes single rows and ranges, and lets them go again", () => {
    const some = toggle(toggle(NOTHING, 3, false), 7, true);
    expect([...some.rows].sort()).toEqual([3, 4, 5, 6, 7]);
    expect(holds(toggle(some, 5, false), 5)).toBe(false);
    expect(isEmpty(toggle(toggle(NOTHING, 3, false), 3, false))).toBe(true);
  });

  it("never names more rows than one call takes", () => {
    expect(toggle(toggle(NOTHING, 1, false), 9000, true).rows.size).toBe(MOST_ROWS);
  });

  it("goes from everything to one row", () => {
    const one = toggle({ all: true, rows: new Set(), last: null }, 9, false);
    expect([one.all, [...one.rows]]).toEqual([false, [9]]);
  });
});
