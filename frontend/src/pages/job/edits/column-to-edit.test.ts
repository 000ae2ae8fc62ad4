import { expect, it } from "vitest";
import { columnToEdit } from "./edit-buttons";

const job = {
  summary: {
    columns: [
      { column: "SKU", errors: 0, warnings: 0 },
      { column: "Price", errors: 3, warnings: 1 },
      { column: "Stock", errors: 0, warnings: 9 },
    ],
  },
};
const columns = ["SKU", "Price", "Stock"];

it("begins with the column that has most problems", () => {
  expect(columnToEdit(job, columns, { statuses: ["ERROR"] })).toBe("Price");
  expect(columnToEdit(job, columns, { statuses: [], problem: "*" })).toBe("Stock");
  expect(columnToEdit(job, columns, { statuses: [] })).toBeUndefined();
  expect(columnToEdit(job, ["SKU"], { statuses: ["ERROR"] })).toBeUndefined();
  expect(columnToEdit({ summary: null }, columns, { statuses: ["ERROR"] })).toBeUndefined();
});
