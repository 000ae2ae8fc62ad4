/** What the address of the products page can hold. */
export interface ProductsSearch {
  q?: string;
  source?: string;
  brand?: string;
  category?: string;
  status?: string;
  job?: string;
  edited?: string;
  linked?: string;
  sort?: string;
}

export const PRODUCTS_SEARCH = [
  "q",
  "source",
  "brand",
  "category",
  "status",
  "job",
  "edited",
  "linked",
  "sort",
] as const;

const SORTS = ["updated", "title", "-title", "price", "-price"] as const;
type Sort = (typeof SORTS)[number];
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export interface ProductsFilter {
  q?: string;
  source?: string;
  brand?: string;
  category?: string;
  status?: "published" | "unpublished";
  jobId?: string;
  edited?: boolean;
  linked?: boolean;
}

/** The filters of an address, as the API takes them; what it would refuse is left out. */
export function filterOf(search: ProductsSearch): ProductsFilter {
  const { q, source, brand, category, status, job, edited, linked } = search;
  return {
    ...(q ? { q } : {}),
    ...(source ? { source } : {}),
    ...(brand ? { brand } : {}),
    ...(category ? { category } : {}),
    ...(status === "published" || status === "unpublished" ? { status } : {}),
    ...(job && ID.test(job) ? { jobId: job } : {}),
    ...(edited === "true" ? { edited: true } : {}),
    ...(linked === "true" ? { linked: true } : {}),
  };
}

export function sortOf(search: ProductsSearch): { sort?: Sort } {
  const sort = SORTS.find((one) => one === search.sort);
  return sort ? { sort } : {};
}

/** The same as texts, for an address. */
export function textsOf(filter: ProductsFilter): Record<string, string> {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)]));
}
