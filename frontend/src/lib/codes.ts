// Codes of problems as people read them; the API, files and filters keep the codes.
const SHORT = new Set(["GTIN", "SKU", "MPN", "URL", "HTML", "CSV", "XML", "JSON", "API", "HTTP", "IP"]);

/** Why rows are skipped: nothing is wrong with them, or a person decides. */
const SKIPS = new Set([
  "HEADING",
  "TOTAL",
  "DUPLICATE_IN_FILE",
  "PART_OF_PRODUCT",
  "EXISTS_ALREADY",
  "NOT_IN_CATALOG",
  "PRICE_CHANGE_HELD",
  "GTIN_CHANGE_HELD",
  "ENRICHMENT_PROPOSED",
  "NOTHING_EXTRACTED",
  "ROBOTS_DISALLOWED",
  "UNCHANGED",
]);

/** `GTIN_CHECK_DIGIT` → “GTIN check digit”. */
export function codeLabel(code: string): string {
  const words = code.split("_").map((word) => (SHORT.has(word) ? word : word.toLowerCase()));
  const text = words.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function isSkip(code: string): boolean {
  return SKIPS.has(code);
}
