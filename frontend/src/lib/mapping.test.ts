import { describe, expect, it } from "vitest";
import { doubledFields, freeTarget, type MappedColumn, missingFields, type ProductField } from "./mapping";

const field = (target: string, more: Partial<ProductField> = {}): ProductField => ({
  target,
  description: "",
  required: false,
  many: false,
  ...more,
});
const fields = [
  field("sourceId", { required: true }),
  field("title", { required: true }),
  field("identifiers.sku"),
  field("images", { many: true }),
];
const column = (name: string, target: string | null) => ({ column: name, target }) as MappedColumn;

describe("mapping", () => {
  it("names required fields that nothing fills; a SKU stands for the id", () => {
    const columns = [column("Nr", "identifiers.sku"), column("Name", null)];
    expect(missingFields(columns, {}, fields)).toEqual(["title"]);
    expect(missingFields(columns, { Name: "title" }, fields)).toEqual([]);
    expect(missingFields(columns, { Name: "title", Nr: null }, fields)).toHaveLength(1);
  });

  it("names fields that two columns would fill", () => {
    const columns = [
      column("A", "title"),
      column("B", "title"),
      column("C", "images"),
      column("D", "images.2"),
    ];
    expect(doubledFields(columns, {})).toEqual(["title"]);
    expect(doubledFields(columns, { B: "ignore" })).toEqual([]);
  });

  it("numbers further columns of a field that takes several", () => {
    const columns = [column("A", "images"), column("B", "images.2"), column("C", null)];
    expect(freeTarget("images", columns[2] as MappedColumn, columns, {}, fields)).toBe("images.3");
    expect(freeTarget("title", columns[2] as MappedColumn, columns, {}, fields)).toBe("title");
  });
});
