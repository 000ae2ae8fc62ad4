import { describe, expect, it } from "vitest";
import { parseRange, pastedRows, rowsToEdit } from "./edits";

describe("a copied range", () => {
  it("is split into rows and cells", () => {
    expect(parseRange("a\tb\r\nc\td\r\n")).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
    expect(parseRange('"two\nlines"\t"say ""hi"""\n')).toEqual([["two\nlines", 'say "hi"']]);
    expect(parseRange('5" pipe\t\n')).toEqual([['5" pipe', ""]]);
    expect(parseRange("x")).toEqual([["x"]]);
  });

  it("is pasted from the focused cell on", () => {
    expect(pastedRows([["1", "2"], ["3"]], ["Price", "Stock"], [4, 7, 9])).toEqual([
      { row: 4, cells: { Price: "1", Stock: "2" } },
      { row: 7, cells: { Price: "3" } },
    ]);
    expect(pastedRows([["1", "2"]], ["Stock"], [4])).toEqual([{ row: 4, cells: { Stock: "1" } }]);
    expect(pastedRows([["x"]], ["Brand"], [1, 2])).toEqual([
      { row: 1, cells: { Brand: "x" } },
      { row: 2, cells: { Brand: "x" } },
    ]);
  });
});

describe("rows to edit", () => {
  it("are the selected ones, or all that match", () => {
    const filter = { statuses: ["ERROR" as const, "PENDING" as const], q: "nut" };
    expect(rowsToEdit(filter, { all: false, rows: new Set([3]), last: 3 })).toEqual({ itemIds: [3] });
    expect(rowsToEdit(filter, null)).toEqual({ statuses: ["ERROR"], q: "nut" });
    expect(rowsToEdit({ statuses: [], problem: "*" }, null)).toEqual({ problem: "*" });
  });
});
