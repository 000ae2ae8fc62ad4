// Names of fields and columns as people read them; files and programs keep the short ones.
const KNOWN: Record<string, string> = {
  sku: "SKU",
  gtin: "GTIN",
  mpn: "MPN",
  url: "URL",
  sourceId: "Source id",
  leadTimeDays: "Lead time, days",
  minOrder: "Minimum order",
  perUnit: "Price per unit",
  perUnitOf: "Unit of the price per unit",
  taxIncluded: "Tax included",
  row: "Row",
};

/** `leadTimeDays` → “Lead time, days”, `brand` → “Brand”; what a supplier named stays as it is. */
export function label(name: string): string {
  const known = KNOWN[name];
  if (known) return known;
  if (!/^[a-z][a-zA-Z0-9]*$/.test(name)) return name;
  const words = name.replace(/([a-z0-9])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A field of the product by its path: `identifiers.sku` → “SKU”, `price.unit` → “Price, unit”. */
export function fieldLabel(path: string): string {
  const [first = "", ...rest] = path.split(".");
  if (rest.length === 0) return label(first);
  // A further column of the same kind.
  if (/^[0-9]+$/.test(rest.join("."))) return `${label(first)} ${rest.join(".")}`;
  if (first === "identifiers" || path === "metadata.url" || path === "metadata.tags")
    return label(rest.join("."));
  if (path === "price.amount") return "Price";
  if (path === "availability.status") return "Availability";
  if (first === "specifications") return label(rest.join("."));
  return `${label(first)}, ${rest.map((one) => label(one).replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())).join(", ")}`;
}

/** A GTIN is kept with 14 digits; people know it with 8, 12, 13 or 14. */
export function gtin(kept: string | null | undefined): string {
  if (!kept) return "";
  const zeros = /^0*/.exec(kept)?.[0].length ?? 0;
  if (kept.length !== 14 || zeros === 0) return kept;
  return kept.slice(zeros >= 6 ? 6 : zeros >= 2 ? 2 : 1);
}
