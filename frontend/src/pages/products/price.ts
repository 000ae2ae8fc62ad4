/** An amount as it is kept, to the digit, in groups of three, with its currency. */
export function price(value: unknown): string {
  const money = value as { amount?: unknown; currency?: unknown } | null | undefined;
  if (!money || money.amount === null || money.amount === undefined) return "";
  const [whole = "", ...rest] = String(money.amount).split(".");
  const amount = [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
  return `${amount} ${money.currency ?? ""}`.trim();
}

/** `12.90 EUR per 100 piece`; a price for one piece without its unit. */
export function priceForUnit(value: unknown): string {
  const shown = price(value);
  const unit = (value as { unit?: unknown } | null | undefined)?.unit;
  return shown && typeof unit === "string" && unit !== "piece" ? `${shown} per ${unit}` : shown;
}
