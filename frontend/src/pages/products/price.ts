/** An amount as it is kept, to the digit, with its currency. */
export function price(value: unknown): string {
  const money = value as { amount?: unknown; currency?: unknown } | null | undefined;
  if (!money || money.amount === null || money.amount === undefined) return "";
  return `${money.amount} ${money.currency ?? ""}`.trim();
}
