import { describe, expect, it } from "vitest";
import { MOST_PIXELS, Scroll } from "./scroll";

describe("Scroll", () => {
  it("reaches the last of a million rows with few of them drawn", () => {
    const scroll = new Scroll(1_000_000, 36, 720);
    expect(scroll.contentHeight).toBe(MOST_PIXELS);
    const bottom = scroll.offsetOf(MOST_PIXELS - 720);
    const { first, count } = scroll.window(bottom);
    expect(first + count).toBe(1_000_000);
    expect(count).toBeLessThan(30);
  });

  it("goes to any row and back to where the scrollbar says", () => {
    const scroll = new Scroll(1_000_000, 36, 720);
    for (const row of [0, 1, 765_431, 999_999]) {
      const offset = scroll.showing(row, row > 500_000 ? 0 : scroll.end);
      const { first, count } = scroll.window(offset, 0);
      expect(row).toBeGreaterThanOrEqual(first);
      expect(row).toBeLessThan(first + count);
      expect(Math.abs(scroll.offsetOf(scroll.scrollTopOf(offset)) - offset)).toBeLessThan(1);
    }
  });

  it("leaves a small table to the browser", () => {
    const scroll = new Scroll(100, 36, 720);
    expect(scroll.scale).toBe(1);
    expect(scroll.isScaled).toBe(false);
    expect(new Scroll(3, 36, 720).end).toBe(0);
  });

  it("does not move for a row that is seen", () => {
    expect(new Scroll(1000, 36, 720).showing(5, 36)).toBe(36);
  });
});
