import { price } from "./price";

type Doc = Record<string, unknown>;

function part(of: unknown, name: string): Doc {
  const found = (of as Doc | null | undefined)?.[name];
  return found && typeof found === "object" && !Array.isArray(found) ? (found as Doc) : {};
}

function list(of: unknown, name: string): Doc[] {
  const found = (of as Doc | null | undefined)?.[name];
  return Array.isArray(found) ? found.filter((one): one is Doc => !!one && typeof one === "object") : [];
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** `12.90 EUR per 100 piece`. */
export function priceWithUnit(product: Doc): string {
  const found = part(product, "price");
  const shown = price(found);
  if (!shown && found.onRequest === true) return "on request";
  const upTo = found.maxAmount ? ` to ${price({ amount: found.maxAmount, currency: found.currency })}` : "";
  return shown && found.unit && found.unit !== "piece"
    ? `${shown}${upTo} per ${text(found.unit)}`
    : `${shown}${upTo}`;
}

/** Prices beside the selling price, those that the product has. */
export function furtherPrices(product: Doc): [label: string, value: string][] {
  const found = part(product, "price");
  const money = (amount: unknown) =>
    amount === undefined || amount === null ? "" : price({ amount, currency: found.currency });
  const per = part(found, "perUnit");
  const rows: [string, string][] = [
    ["List price", money(found.list)],
    ["Recommended price", money(found.recommended)],
    ["Former price", money(found.compareAt)],
    ["Cost", money(found.cost)],
    ["Discount", found.discount === undefined ? "" : `${text(found.discount)} %`],
    ["Discount group", text(found.discountGroup)],
    ["Price per unit", per.amount ? `${money(per.amount)} per ${text(per.unit)}` : ""],
    ["Tax", taxOf(found)],
  ];
  return rows.filter(([, value]) => value);
}

function taxOf(found: Doc): string {
  const rate = found.taxRate === undefined ? "" : `${text(found.taxRate)} %`;
  const included =
    found.taxIncluded === true ? "included" : found.taxIncluded === false ? "not included" : "";
  return [rate, included].filter(Boolean).join(", ");
}

export interface Tier {
  from: string;
  price: string;
}

/** Prices from a quantity up. */
export function tiersOf(product: Doc): Tier[] {
  const found = part(product, "price");
  return list(found, "tiers").map((one) => ({
    from: text(one.minQuantity),
    price: price({ amount: one.amount, currency: found.currency }),
  }));
}

/** Weight, dimensions, pack and other measures. */
export function measuresOf(product: Doc): [label: string, value: string][] {
  const found = part(product, "specifications");
  const weight = part(found, "weight");
  const sides = part(found, "dimensions");
  const pack = part(found, "pack");
  const names = ["length", "width", "height", "depth", "diameter"].filter(
    (name) => sides[name] !== undefined,
  );
  const stock = part(product, "availability");
  const rows: [string, string][] = [
    ["Weight", weight.value === undefined ? "" : `${text(weight.value)} ${text(weight.unit)}`.trim()],
    [
      "Dimensions",
      names.length === 0
        ? ""
        : `${names.map((name) => text(sides[name])).join(" × ")} ${text(sides.unit)} (${names.join(", ")})`,
    ],
    ["Pack", packOf(pack)],
    ["Material", text(found.material)],
    ["Stock", text(stock.quantity)],
    ["Lead time", stock.leadTimeDays === undefined ? "" : `${text(stock.leadTimeDays)} days`],
    ["Least order", text(stock.minOrder)],
  ];
  return rows.filter(([, value]) => value);
}

function packOf(pack: Doc): string {
  if (pack.count === undefined) return "";
  const size = pack.size === undefined ? "" : ` × ${text(pack.size)}`;
  const total = pack.total === undefined ? "" : ` = ${text(pack.total)} ${text(pack.totalUnit)}`;
  return `${text(pack.count)}${size} ${text(pack.unit)}${size ? total : ""}`;
}

export interface Variant {
  name: string;
  sku: string;
  gtin: string;
  price: string;
  stock: string;
}

/** Variants, each named by its options. */
export function variantsOf(product: Doc): Variant[] {
  const currency = part(product, "price").currency;
  return list(product, "variants").map((one) => {
    const options = one.options ?? one.attributes;
    const values = options && typeof options === "object" ? Object.entries(options as Doc) : [];
    const own = part(one, "identifiers");
    const money = part(one, "price");
    const stock = part(one, "availability");
    const state = text(stock.status).replaceAll("_", " ");
    return {
      name: values.map(([name, value]) => `${name}: ${text(value)}`).join(", "),
      sku: text(own.sku ?? one.sku),
      gtin: text(own.gtin ?? one.gtin),
      price: price({ currency, ...money }),
      stock: stock.quantity === undefined ? state : `${text(stock.quantity)}${state ? `, ${state}` : ""}`,
    };
  });
}
