// Lookups: what is asked for, and what a row of one knows.
import type { Item } from "./api";

export const MOST_FILES = 1000;
export const PROPOSED = "ENRICHMENT_PROPOSED";
export const AMBIGUOUS = "AMBIGUOUS_MATCH";

export interface LookupFile {
  id: string | null;
  file: { name: string; size: number };
}

export interface LookupOptions {
  name: string;
  accept: string;
  sources: boolean;
}

export function sizeOf(files: LookupFile[]): number {
  return files.reduce((sum, one) => sum + one.file.size, 0);
}

/** The order of a new lookup, as the API takes it. */
export function lookupOrder(files: LookupFile[], options: LookupOptions) {
  return {
    pipeline: "lookup",
    fileIds: files.flatMap((one) => (one.id ? [one.id] : [])),
    name: options.name.trim() || files[0]?.file.name || "Lookup",
    config: { accept: Number(options.accept), ...(options.sources ? {} : { sources: [] }) },
  };
}

export interface Candidate {
  key: string;
  provider: string;
  productId?: string;
  source: string;
  sku?: string;
  gtin?: string;
  brand?: string;
  title?: string;
  image?: string;
  confidence: number;
  matchedBy: string;
}

export interface Proposed {
  field: string;
  before: unknown;
  after: unknown;
  origin: string;
  provider: string;
  confidence: number;
}

export function candidatesOf(item: Item): Candidate[] {
  return ((item.normalized as { candidates?: Candidate[] } | null)?.candidates ?? []) as Candidate[];
}

export function proposalOf(item: Item): Proposed[] {
  return ((item.normalized as { proposal?: Proposed[] } | null)?.proposal ?? []) as Proposed[];
}

const VARIANTS: Record<string, string> = {
  gtin: "GTIN",
  mpnBrand: "Part number and brand",
  sku: "SKU",
  brandTitle: "Brand and title",
  title: "Title",
  image: "Similar picture",
  fileName: "File name",
  person: "A person",
};

/** How a product was searched for, as people say it. */
export function variantLabel(variant: string): string {
  return VARIANTS[variant] ?? variant;
}

const OUTCOMES: Record<string, string> = {
  found: "Found",
  ambiguous: "Several fit",
  weak: "Not certain",
  notFound: "Nothing",
  failed: "No answer",
};

export function outcomeLabel(outcome: string): string {
  return OUTCOMES[outcome] ?? outcome;
}

export function isEnrichment(job: { pipeline: string; config: Record<string, unknown> }): boolean {
  return job.pipeline === "lookup" && "enrich" in job.config;
}
