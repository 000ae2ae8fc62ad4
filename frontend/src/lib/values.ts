import { cellText } from "./format";
import { label } from "./labels";

type Doc = Record<string, unknown>;
const SIDES = ["length", "width", "height", "depth", "diameter"];

/** A value of a product as people read it: never JSON, whatever it holds. */
export function valueText(value: unknown): string {
  if (Array.isArray(value)) {
    const parts = value.map(valueText).filter(Boolean);
    return parts.join(value.some((one) => one && typeof one === "object") ? "; " : ", ");
  }
  if (value && typeof value === "object") return partText(value as Doc);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return cellText(value);
}

function partText(part: Doc): string {
  const { unit, ...rest } = part;
  const sides = SIDES.filter((name) => rest[name] !== undefined);
  if (sides.length > 0)
    return `${sides.map((name) => valueText(rest[name])).join(" × ")} ${valueText(unit)}`.trim();
  if (rest.minQuantity !== undefined) return `${valueText(rest.minQuantity)}+: ${valueText(rest.amount)}`;
  if (rest.value !== undefined) return `${valueText(rest.value)} ${valueText(unit)}`.trim();
  return Object.entries(part)
    .map(([name, value]) => [label(name), valueText(value)])
    .filter(([, text]) => text)
    .map(([name, text]) => `${name}: ${text}`)
    .join(", ");
}
