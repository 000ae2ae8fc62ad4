// Schedules, retention and feeds: what pages ask for, and the names of things.
import { queryOptions } from "@tanstack/react-query";
import { client, ok, type Schemas } from "./api";
import type { Tone } from "./states";

export type Schedule = Schemas["ScheduleShape"];
export type FullSchedule = Schemas["FullSchedule"];
export type ScheduleRun = Schemas["ScheduleRunShape"];
export type Feed = Schemas["FeedShape"];

export const schedulesQuery = queryOptions({
  queryKey: ["schedules"],
  queryFn: async ({ signal }) => (await ok(client.GET("/api/schedules", { signal }))).items,
  refetchInterval: 10_000,
});

export function scheduleQuery(id: string) {
  return queryOptions({
    queryKey: ["schedules", id],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/schedules/{schedule_id}", { params: { path: { schedule_id: id } }, signal })),
    refetchInterval: 5_000,
  });
}

export const feedsQuery = queryOptions({
  queryKey: ["feeds"],
  queryFn: async ({ signal }) => (await ok(client.GET("/api/feeds", { signal }))).items,
});

export const retentionQuery = queryOptions({
  queryKey: ["retention"],
  queryFn: ({ signal }) => ok(client.GET("/api/retention", { signal })),
});

export const KINDS: Record<string, string> = {
  file: "File by URL",
  shop: "Shop import",
  crawl: "Crawl",
  research: "Research",
  scan: "Scan of watched places",
  export: "Export",
};

export const RUN_TONES: Record<string, Tone> = {
  waiting: "pending",
  running: "processing",
  done: "done",
  failed: "error",
  cancelled: "skipped",
  missed: "skipped",
};

/** What an action is about, in a few words. */
export function aboutAction(action: Record<string, unknown>): string {
  switch (action.kind) {
    case "file":
      return String(action.url).replace(/^https?:\/\//, "");
    case "research":
      return String(action.query);
    case "crawl":
      return (action.companies as { company: string }[]).map((one) => one.company).join(", ");
    case "export": {
      const to = action.to as { url?: string; watcherId?: string };
      const what = action.what === "job" ? "results of a job" : "products";
      return `${what} as ${String(action.format ?? "csv").toUpperCase()} to ${to.url ? new URL(to.url).host : "a watched place"}`;
    }
    default:
      return "";
  }
}

/** The zone of this browser, then all others. */
export function timeZones(): string[] {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const all =
    typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : ["Europe/Berlin"];
  return [...new Set([own, "UTC", ...all])];
}
