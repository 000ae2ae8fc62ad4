import { describe, expect, it } from "vitest";
import { duration, relative, utc } from "./time";

describe("times", () => {
  it("names at most two units", () => {
    expect([412, 4000, 200_000, 7_500_000, 277_200_000].map(duration)).toEqual([
      "412 ms",
      "4 s",
      "3 min 20 s",
      "2 h 5 min",
      "3 d 5 h",
    ]);
  });

  it("tells how long ago and when exactly", () => {
    const now = Date.parse("2026-01-02T00:00:00Z");
    expect(relative("2026-01-01T22:00:00Z", now)).toMatch(/2 h/);
    expect(relative("2026-01-01T23:59:58Z", now)).toBe("just now");
    expect(utc("2026-01-01T22:00:00.123Z")).toBe("2026-01-01 22:00:00 UTC");
  });
});
