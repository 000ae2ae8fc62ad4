// Columns and the fields they fill.
import { queryOptions } from "@tanstack/react-query";
import { client, ok, type Schemas } from "./api";

export interface MappedColumn {
  column: string;
  target: string | null;
  confidence: number;
  how: string;
  fill: number;
  samples: string[];
  alternatives: unknown[];
}

export type ProductField = Schemas["ProductField"];
/** Column to field; null keeps it as a custom field, `ignore` leaves it out. */
export type Mapping = Record<string, string | null>;

export const fieldsQuery = queryOptions({
  queryKey: ["fields"],
  queryFn: ({ signal }) => ok(client.GET("/api/fields", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

const NAMES_A_PRODUCT = ["sourceId", "identifiers.sku", "identifiers.gtin", "identifiers.mpn"];

export function targetOf(column: MappedColumn, mapping: Mapping): string | null {
  return column.column in mapping ? (mapping[column.column] ?? null) : column.target;
}

/** Required fields that no column fills, as a person would name them. */
export function missingFields(columns: MappedColumn[], mapping: Mapping, fields: ProductField[]): string[] {
  const targets = new Set(columns.map((column) => targetOf(column, mapping)));
  return fields
    .filter((field) => field.required && !targets.has(field.target))
    .filter((field) => field.target !== "sourceId" || !NAMES_A_PRODUCT.some((name) => targets.has(name)))
    .map((field) =>
      field.target === "sourceId" ? "SKU, GTIN, MPN or an id of the supplier's" : field.target,
    );
}

/** The target for a column that is set to a field: further columns of a field that takes several are
 * numbered, as `images.2`. */
export function freeTarget(
  chosen: string,
  column: MappedColumn,
  columns: MappedColumn[],
  mapping: Mapping,
  fields: ProductField[],
): string {
  if (!fields.some((field) => field.many && field.target === chosen)) return chosen;
  const taken = new Set(
    columns.filter((one) => one.column !== column.column).map((one) => targetOf(one, mapping)),
  );
  if (!taken.has(chosen)) return chosen;
  let number = 2;
  while (taken.has(`${chosen}.${number}`)) number += 1;
  return `${chosen}.${number}`;
}

/** A column that has the price from a quantity up: `price.tiers.10`. */
export const TIER = /^price\.tiers\.([0-9]{1,7})$/;

/** Fields that more than one column would fill, though only one may. */
export function doubledFields(columns: MappedColumn[], mapping: Mapping): string[] {
  const seen = new Map<string, number>();
  for (const column of columns) {
    const target = targetOf(column, mapping);
    if (target && target !== "ignore") seen.set(target, (seen.get(target) ?? 0) + 1);
  }
  return [...seen].filter(([, times]) => times > 1).map(([target]) => target);
}
