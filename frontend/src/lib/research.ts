// Research requests and sources: what pages ask for, and the names of things.
import { queryOptions } from "@tanstack/react-query";
import { client, type FullJob, type Item, type JobEvent, ok, type Schemas, send } from "./api";
import type { paths } from "./api.gen";

export type Source = Schemas["SourceShape"];
export type SourceTest = Schemas["SourceTestShape"];
export type SourceHealth = Schemas["SourceHealth"];
export type ResearchBody = paths["/api/research"]["post"]["requestBody"] extends infer Body
  ? NonNullable<Body> extends { content: { "application/json": infer Json } }
    ? Json
    : never
  : never;

export const sourcesQuery = queryOptions({
  queryKey: ["sources"],
  queryFn: async ({ signal }) => (await ok(client.GET("/api/sources", { signal }))).items,
});

export function healthQuery(id: string) {
  return queryOptions({
    queryKey: ["sources", id, "health"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/sources/{source_id}/health", { params: { path: { source_id: id } }, signal })),
    refetchInterval: 15_000,
  });
}

export const quotaQuery = queryOptions({
  queryKey: ["research", "quota"],
  queryFn: async ({ signal }) => (await ok(client.GET("/api/research/quota", { signal }))).items,
});

/** A configuration as it was written: errors name its lines. */
export async function saveSource(text: string, id: string | null): Promise<Source> {
  const isJson = text.trimStart().startsWith("{");
  const response = await send(id ? `/api/sources/${id}` : "/api/sources", {
    method: id ? "PUT" : "POST",
    headers: { "Content-Type": isJson ? "application/json" : "application/toml" },
    body: text,
  });
  return (await response.json()) as Source;
}

export interface Money {
  amount: string;
  currency?: string;
}

/** What one source offers of a merged product. */
export interface SourceEntry {
  source: string;
  sourceId?: string;
  title?: string;
  price?: Money & { unit?: string };
  comparablePrice?: Money;
  availability?: { status?: string; quantity?: number; leadTimeDays?: number; deliveryDate?: string };
  supplier?: { name?: string; location?: string };
  url?: string;
  matchedBy?: string[];
  confidence?: number;
}

export interface MergedProduct {
  row: number;
  rank: number;
  score: number;
  title: string;
  brand: string;
  gtin: string;
  price: string;
  currency: string;
  availability: string;
  sources: SourceEntry[];
}

export function productOf(item: Item): MergedProduct {
  const cells = (item.result ?? {}) as Record<string, unknown>;
  const text = (name: string) => (cells[name] === undefined ? "" : String(cells[name]));
  return {
    row: item.rowNo,
    rank: Number(cells.rank ?? 0),
    score: Number(cells.score ?? 0),
    title: text("title"),
    brand: text("brand"),
    gtin: text("gtin"),
    price: text("price"),
    currency: text("currency"),
    availability: text("availability"),
    sources: (cells.sources ?? []) as SourceEntry[],
  };
}

export interface SourceState {
  name: string;
  progress: number;
  stage: string;
  message: string;
  failed: boolean;
}

/** How far each source is, by the events of a request. What has failed stays so. */
export function sourceStates(known: Record<string, SourceState>, events: JobEvent[]) {
  const states = { ...known };
  for (const event of events) {
    const told = event.data as Record<string, unknown>;
    if (event.event !== "research.progress" || typeof told.source !== "string") continue;
    const before = states[told.source];
    const progress = Math.max(before?.progress ?? 0, Number(told.progress ?? 0));
    states[told.source] = {
      name: told.source,
      progress,
      stage: String(told.stage ?? ""),
      message: String(told.message ?? ""),
      failed: before?.failed ?? false,
    };
  }
  return states;
}

export interface SourceSummary {
  found: number;
  kept: number;
  invalid: number;
  calls: number;
  latencyMs: number;
  reused: boolean;
  leftOut: Record<string, number>;
  cost: Money[];
  failed: { code: string; message: string; tries: number } | null;
}

/** What the ended request says of each source; null while it runs. */
export function summariesOf(job: FullJob | undefined): Record<string, SourceSummary> | null {
  const told = job?.summary as { sources?: Record<string, SourceSummary> } | null | undefined;
  return told?.sources ?? null;
}

/** The lowest comparable price, to show by how much others are dearer. */
export function lowestPrice(sources: SourceEntry[]): number | null {
  const amounts = sources
    .map((one) => Number(one.comparablePrice?.amount))
    .filter((amount) => Number.isFinite(amount) && amount > 0);
  return amounts.length > 0 ? Math.min(...amounts) : null;
}

export type SavedQuery = Schemas["SavedQueryShape"];

/** Queries that the org has saved. */
export const savedQueries = queryOptions({
  queryKey: ["research", "queries"],
  queryFn: async ({ signal }) => (await ok(client.GET("/api/research/queries", { signal }))).items,
});

/** A query of the same name is replaced. */
export function saveQuery(name: string, body: ResearchBody) {
  return ok(
    client.PUT("/api/research/queries/{query_name}", { params: { path: { query_name: name } }, body }),
  );
}

export function deleteQuery(name: string) {
  return ok(client.DELETE("/api/research/queries/{query_name}", { params: { path: { query_name: name } } }));
}

const listed = (text: string) =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);

/** The request that a filled form asks for; empty fields are left out. */
export function bodyOf(form: FormData): ResearchBody {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const body: Record<string, unknown> = { query: text("query") };
  const categories = listed(text("categories"));
  const suppliers = listed(text("suppliers"));
  if (categories.length > 0) body.categories = categories;
  if (suppliers.length > 0) body.suppliers = suppliers;
  if (text("region")) body.region = text("region");
  const range: Record<string, unknown> = {};
  if (text("min")) range.min = Number(text("min"));
  if (text("max")) range.max = Number(text("max"));
  if (text("currency")) range.currency = text("currency").toUpperCase();
  if (range.min !== undefined || range.max !== undefined) body.priceRange = range;
  const sources = form.getAll("sources").map(String);
  if (sources.length > 0) body.sources = sources;
  if (text("webhookUrl")) body.webhookUrl = text("webhookUrl");
  if (text("priority")) body.priority = text("priority");
  return body as ResearchBody;
}
