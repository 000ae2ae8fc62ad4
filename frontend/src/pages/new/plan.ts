// What a job is about to do, worked out from the dry run of its first rows.
import { count, plural } from "../../lib/format";
import type { Intent } from "../../lib/intents";
import { duration } from "../../lib/time";
import type { Draft } from "./draft";

/** Rows a second where nothing was measured yet. A guess on the careful side. */
export const GUESSED_RATE = 1000;
/** What a job takes however few its rows are. */
const START_MS = 1000;

export interface Looked {
  /** Rows of the whole file, and how many of them were worked out. */
  total: number;
  shown: number;
  exact: boolean;
  valid: number;
  invalid: number;
  /** Warnings about values, as the job's tab counts them. */
  warned: number;
  discarded: number;
  new: number;
  changed: number;
  unchanged: number;
  held: number;
  duplicates: number | null;
  /** Products of the source that the file does not contain, if all rows were checked. */
  missing?: number;
  /** Whether `total` was counted, not estimated. */
  counted?: boolean;
}

export interface Measured {
  /** Rows that ended in the last run. */
  rowsRun: number;
  elapsedMs: number;
}

/** Rows a second of the middle one of the latest jobs that are large enough to tell; null without. */
export function measuredRate(jobs: readonly Measured[]): number | null {
  const rates = jobs
    .filter((one) => one.rowsRun >= 200 && one.elapsedMs > 0)
    .map((one) => (1000 * one.rowsRun) / one.elapsedMs)
    .sort((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? null;
}

export function timeTaken(rows: number, rate: number | null): string {
  const ms = START_MS + (1000 * rows) / (rate ?? GUESSED_RATE);
  return ms < 5000 ? "a few seconds" : `about ${duration(rounded(ms))}`;
}

/** To what an estimate can claim to know. */
function rounded(ms: number): number {
  const step = ms < 60_000 ? 5000 : ms < 3_600_000 ? 60_000 : 900_000;
  return Math.round(ms / step) * step;
}

export interface Line {
  kind: "rows" | "write" | "leave" | "error" | "warning" | "duplicate" | "held";
  text: string;
}

const MAKES: ReadonlySet<Intent> = new Set(["create", "merge", "ignoreExisting"]);
const CHANGES: ReadonlySet<Intent> = new Set(["update", "merge", "replace"]);

export function planOf(looked: Looked, draft: Pick<Draft, "intent" | "winner" | "missing">): Line[] {
  const many = (value: number) => (looked.shown > 0 ? Math.round((value * looked.total) / looked.shown) : 0);
  const about = (value: number, one: string, more?: string) =>
    `${looked.exact ? "" : "About "}${plural(value, one, more)}`;
  const { intent } = draft;
  const lines: Line[] = [
    {
      kind: "rows",
      text: `${looked.counted ? "" : "About "}${plural(looked.total, "row is", "rows are")} read, cleaned and compared with the catalog.`,
    },
  ];
  const made = many(looked.new);
  const changed = many(looked.changed);
  const same = many(looked.unchanged);
  if (intent === "check") {
    lines.push({ kind: "leave", text: "Nothing is written to the catalog." });
  } else {
    const writes = (MAKES.has(intent) ? made : 0) + (CHANGES.has(intent) ? changed : 0);
    if (writes === 0) lines.push({ kind: "leave", text: "No product is created or changed." });
    if (MAKES.has(intent) && made > 0) {
      lines.push({ kind: "write", text: `${about(made, "product is", "products are")} created.` });
    } else if (!MAKES.has(intent) && made > 0) {
      lines.push({ kind: "leave", text: `${about(made, "new product is", "new products are")} left out.` });
    }
    if (CHANGES.has(intent) && changed > 0) {
      const how =
        intent === "replace" ? "replaced by the values of the file" : "changed, in the mapped fields";
      lines.push({ kind: "write", text: `${about(changed, "product is", "products are")} ${how}.` });
    } else if (!CHANGES.has(intent) && changed > 0) {
      lines.push({
        kind: "leave",
        text: `${about(changed, "product that differs is", "products that differ are")} left alone.`,
      });
    }
    if (same > 0)
      lines.push({ kind: "leave", text: `${about(same, "product is", "products are")} already up to date.` });
  }
  const held = many(looked.held);
  if (held > 0 && (intent === "check" || CHANGES.has(intent))) {
    lines.push({
      kind: "held",
      text: `${about(held, "row is", "rows are")} held back, because the price or GTIN changes too much. You can accept them afterwards.`,
    });
  }
  if (draft.missing === "unpublish" && intent !== "check") {
    lines.push({
      kind: "write",
      text:
        looked.missing === undefined
          ? "Products of this source that the file does not contain are unpublished."
          : `${plural(looked.missing, "product of this source that the file does not contain is", "products of this source that the file does not contain are")} unpublished.`,
    });
  }
  const doubtful = many(looked.warned);
  if (doubtful > 0) {
    lines.push({
      kind: "warning",
      text: `${about(doubtful, "warning", "warnings")}: values that cannot be read are left empty.`,
    });
  }
  const wrong = many(looked.invalid);
  if (wrong > 0) {
    lines.push({
      kind: "error",
      text: `${about(wrong, "row becomes an error", "rows become errors")}, with the reason. You can correct them after the job.`,
    });
  }
  if (looked.duplicates) {
    const winner = { first: "The first", last: "The last", most_complete: "The most complete" }[
      draft.winner ?? "first"
    ];
    lines.push({
      kind: "duplicate",
      text: `${about(looked.duplicates, "row repeats", "rows repeat")} a product of the file. ${winner} row of each product is kept.`,
    });
  }
  const out = many(looked.discarded);
  if (out > 0)
    lines.push({ kind: "leave", text: `${about(out, "row is", "rows are")} not products and left out.` });
  return lines;
}

export function rateTold(rate: number | null): string {
  return rate === null
    ? `an estimate: nothing has been measured here yet, ${count(GUESSED_RATE)} rows/s are assumed`
    : `at ${count(Math.round(rate))} rows/s, as measured on the latest jobs`;
}
