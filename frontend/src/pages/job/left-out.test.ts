import { describe, expect, it } from "vitest";
import { rowsLeftOut } from "./left-out";

const job = (total: number, summary: Record<string, number> | null) =>
  ({ counters: { total }, summary }) as unknown as Parameters<typeof rowsLeftOut>[0];

describe("rowsLeftOut", () => {
  it("completes valid and invalid rows to all rows", () => {
    expect(rowsLeftOut(job(11, { valid: 7, invalid: 2 }))).toBe(2);
    expect(rowsLeftOut(job(9, { valid: 7, invalid: 2 }))).toBe(0);
  });
  it("is none where rows are not judged so", () => {
    expect(rowsLeftOut(job(11, { products: 5 }))).toBe(0);
    expect(rowsLeftOut(job(11, null))).toBe(0);
  });
});
