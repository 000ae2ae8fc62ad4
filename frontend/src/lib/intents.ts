// What a job may write to the catalog, in the words of the pages.
import { isEnrichment } from "./lookup";

export type Intent = "check" | "create" | "update" | "merge" | "replace" | "ignoreExisting";

export const INTENTS: readonly [Intent, string, string][] = [
  ["check", "Check only", "Nothing is written. You can review and export the cleaned rows."],
  [
    "create",
    "Create new products",
    "Adds products that are not in the catalog. Existing products are not changed.",
  ],
  [
    "update",
    "Update existing products",
    "Changes the mapped fields of existing products. Empty cells change nothing.",
  ],
  ["merge", "Create and update", "Adds new products and updates existing ones."],
  [
    "replace",
    "Replace existing products",
    "Existing products become exactly what the file contains; empty cells clear fields.",
  ],
  ["ignoreExisting", "Create, ignore existing", "Adds new products; rows of existing products are skipped."],
];

export const WRITING = INTENTS.map(([intent]) => intent).filter((intent) => intent !== "check");

/** What a job without a choice may write: nothing. */
export function intentLabel(intent: unknown): string {
  return INTENTS.find(([one]) => one === (intent ?? "check"))?.[1] ?? String(intent);
}

/** Whether a job may have written products: an import that is no check, or an enrichment. */
export function mayWrite(job: { pipeline: string; config: Record<string, unknown> }): boolean {
  return job.pipeline === "extraction" ? (job.config.intent ?? "check") !== "check" : isEnrichment(job);
}
