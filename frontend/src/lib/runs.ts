// Crawl runs: their states, and what a person fills in for a new one.
import type { Schemas } from "./api";
import type { Tone } from "./states";

export type Run = Schemas["RunShape"];
export type RunCounts = Schemas["RunCounts"];
export type PagePreview = Schemas["PagePreview"];

export const PAGE_STATES: { name: keyof RunCounts; word: string; tone: Tone }[] = [
  { name: "pending", word: "Pending", tone: "pending" },
  { name: "crawled", word: "Crawled", tone: "processing" },
  { name: "ready", word: "Ready", tone: "done" },
  { name: "skipped", word: "Skipped", tone: "skipped" },
  { name: "expired", word: "Expired", tone: "not-found" },
  { name: "error", word: "Error", tone: "error" },
];

export const RUN_STATES: Record<Run["status"], { word: string; tone: Tone }> = {
  queued: { word: "Queued", tone: "pending" },
  running: { word: "Running", tone: "processing" },
  paused: { word: "Paused", tone: "paused" },
  aborting: { word: "Aborting", tone: "skipped" },
  finished: { word: "Finished", tone: "done" },
  aborted: { word: "Aborted", tone: "skipped" },
  failed: { word: "Failed", tone: "error" },
};

export function isLive(status: Run["status"]): boolean {
  return status === "queued" || status === "running" || status === "paused" || status === "aborting";
}

export type PageSource = "urls" | "sitemap" | "start";

export interface CrawlDraft {
  company: string;
  source: PageSource;
  urls: string;
  sitemap: string;
  start: string;
  follow: string;
  limit: number;
  kind: "auto" | "product" | "job";
  rate: number;
  robots: boolean;
  recrawl: boolean;
}

export const NEW_CRAWL: CrawlDraft = {
  company: "",
  source: "urls",
  urls: "",
  sitemap: "",
  start: "",
  follow: "",
  limit: 100,
  kind: "auto",
  rate: 1,
  robots: true,
  recrawl: false,
};

/** The lines of a text that are not empty. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}

/** The page to preview: the first that the draft names. */
export function firstPage(draft: CrawlDraft): string {
  if (draft.source === "urls") return linesOf(draft.urls)[0] ?? "";
  return draft.source === "start" ? draft.start.trim() : "";
}

export interface RunOrder {
  companies: Record<string, unknown>[];
  kind: CrawlDraft["kind"];
  rate: number;
  robots: boolean;
  recrawl: boolean;
}

/** The request for a run, or null while something is missing. */
export function runOrder(draft: CrawlDraft): RunOrder | null {
  const company = draft.company.trim();
  const pages = pagesOf(draft);
  if (!company || !pages) return null;
  return {
    companies: [{ company, ...pages }],
    kind: draft.kind,
    rate: draft.rate,
    robots: draft.robots,
    recrawl: draft.recrawl,
  };
}

function pagesOf(draft: CrawlDraft): Record<string, unknown> | null {
  if (draft.source === "urls") {
    const urls = linesOf(draft.urls);
    return urls.length > 0 ? { urls } : null;
  }
  if (draft.source === "sitemap") {
    const sitemap = draft.sitemap.trim();
    return sitemap ? { sitemap } : null;
  }
  const url = draft.start.trim();
  return url ? { start: { url, follow: linesOf(draft.follow), limit: draft.limit } } : null;
}
