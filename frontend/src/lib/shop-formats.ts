/** Files that shop systems import, by the name that the API gives them. */
export const SHOP_FORMATS: [format: string, label: string][] = [
  ["shopify", "Shopify"],
  ["woocommerce", "WooCommerce"],
  ["magento", "Magento 2"],
  ["prestashop", "PrestaShop products"],
  ["prestashop-combinations", "PrestaShop combinations"],
  ["akeneo", "Akeneo"],
];

/** Other ways to show the variants of products than in one cell. */
export const VARIANT_SHAPES = [
  { label: "Variants as rows", short: "As rows", given: { variants: "rows" } },
  { label: "Variants as columns", short: "As columns", given: { variants: "columns" } },
];

/** The ending of a file in this format. */
export function endingOf(format: string): string {
  return SHOP_FORMATS.some(([name]) => name === format) ? "csv" : format;
}
