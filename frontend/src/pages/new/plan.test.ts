import { describe, expect, it } from "vitest";
import { type Looked, measuredRate, planOf, timeTaken } from "./plan";

const LOOKED: Looked = {
  total: 36,
  shown: 36,
  exact: true,
  valid: 29,
  invalid: 6,
  warned: 0,
  discarded: 0,
  new: 20,
  changed: 9,
  unchanged: 1,
  held: 0,
  duplicates: 1,
};
const texts = (...of: Parameters<typeof planOf>) => planOf(...of).map((line) => line.text);

describe("what a job is about to do", () => {
  it("writes nothing for a check", () => {
    const told = texts(LOOKED, { intent: "check" });
    expect(told).toContain("Nothing is written to the catalog.");
    expect(told.some((one) => one.includes("created"))).toBe(false);
    expect(told.some((one) => one.startsWith("6 rows become errors"))).toBe(true);
    expect(told.at(-1)).toContain(
      "1 row repeats a product of the file. The first row of each product is kept",
    );
  });

  it("says what is written and what is not, by the intent", () => {
    expect(texts(LOOKED, { intent: "create" })).toContain("20 products are created.");
    expect(texts(LOOKED, { intent: "create" })).toContain("9 products that differ are left alone.");
    expect(texts(LOOKED, { intent: "update" })).toContain("20 new products are left out.");
    expect(texts(LOOKED, { intent: "merge" })).toContain("9 products are changed, in the mapped fields.");
    expect(texts(LOOKED, { intent: "replace" })).toContain(
      "9 products are replaced by the values of the file.",
    );
    expect(texts(LOOKED, { intent: "merge", winner: "last" }).at(-1)).toContain("The last row of each");
  });

  it("says what is unpublished and what has warnings", () => {
    const told = texts({ ...LOOKED, warned: 2 }, { intent: "merge", missing: "unpublish" });
    expect(told).toContain("Products of this source that the file does not contain are unpublished.");
    const known = texts({ ...LOOKED, missing: 3 }, { intent: "merge", missing: "unpublish" });
    expect(known).toContain("3 products of this source that the file does not contain are unpublished.");
    expect(told).toContain("2 warnings: values that cannot be read are left empty.");
  });

  it("says so where nothing would change", () => {
    const told = texts({ ...LOOKED, new: 0, changed: 0 }, { intent: "merge" });
    expect(told).toContain("No product is created or changed.");
  });

  it("scales the first rows to the whole file, and says that it does", () => {
    const large = { ...LOOKED, total: 36_000, exact: false, duplicates: null };
    expect(texts(large, { intent: "merge" })[0]).toMatch(/^About 36,000 rows/);
    expect(texts({ ...large, counted: true }, { intent: "merge" })[0]).toMatch(/^36,000 rows/);
    expect(texts(large, { intent: "merge" })).toContain("About 20,000 products are created.");
    expect(texts(large, { intent: "merge" }).some((one) => one.includes("repeat"))).toBe(false);
  });
});

describe("how long it takes", () => {
  it("goes by jobs that are large enough to tell", () => {
    expect(measuredRate([])).toBeNull();
    expect(measuredRate([{ rowsRun: 30, elapsedMs: 900 }])).toBeNull();
    expect(
      measuredRate([
        { rowsRun: 30, elapsedMs: 900 },
        { rowsRun: 1000, elapsedMs: 500 },
        { rowsRun: 9000, elapsedMs: 700_000 },
        { rowsRun: 3000, elapsedMs: 1000 },
      ]),
    ).toBe(2000);
  });

  it("claims no more than it knows", () => {
    expect(timeTaken(36, null)).toBe("a few seconds");
    expect(timeTaken(100_000, 2000)).toBe("about 50 s");
    expect(timeTaken(1_000_000, 2000)).toBe("about 8 min");
    expect(timeTaken(50_000_000, 2000)).toBe("about 7 h");
  });
});
