/** Names that stand apart by spaces or commas. */
export function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}
