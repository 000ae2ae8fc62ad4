/** An amount as it is kept, to the digit, in groups of three, with its currency. */
export function price(value: unknown): string {
  const money = value as { amount?: unknown; currency?: unknown } | null | undefined;
  if (!money || money.amount === null || money.amount === undefined) return "";
  const [whole = "", ...rest] = String(money.amount).split(".");
  const amount = [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
  return `${amount} ${money.currency ?? ""}`.trim();
}
