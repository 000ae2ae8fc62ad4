import { useQueryClient } from "@tanstack/react-query";
import { toast } from "../components/toast";
import { client, ok, type Schemas } from "./api";
import { plural } from "./format";

export type LinkSide = Schemas["LinkSide"];
export interface LinkName {
  source: string;
  sourceId: string;
}
export type Decision = "accept" | "refuse" | "undo";

/** Two products by id, or by name where an import will create one of them. */
export type Pair =
  | { productId: string; otherId: string }
  | { product: LinkName; other: LinkName; by: "gtin" | "mpn" };

const DONE: Record<Decision, string> = { accept: "accepted", refuse: "refused", undo: "undone" };
// As many as one request takes.
const AT_ONCE = 200;

export const REASONS: Record<string, string> = {
  gtin: "Same GTIN",
  mpn: "Same brand and MPN",
  manual: "Linked by hand",
};

/** Accept or refuse links between products of two sources, or undo such a decision. */
export function useDecideLinks() {
  const queries = useQueryClient();
  return async (decision: Decision, pairs: Pair[]) => {
    let decided = 0;
    for (let start = 0; start < pairs.length; start += AT_ONCE) {
      const some = pairs.slice(start, start + AT_ONCE);
      const body = {
        decision,
        pairs: some.flatMap((one) => ("otherId" in one ? [one] : [])),
        namedPairs: some.flatMap((one) => ("otherId" in one ? [] : [one])),
      };
      decided += (await ok(client.POST("/api/product-links", { body }))).decided;
    }
    toast.success(`${plural(decided, "link")} ${DONE[decision]}`);
    void queries.invalidateQueries({ queryKey: ["links"] });
    void queries.invalidateQueries({ queryKey: ["products"] });
  };
}

/** The links whose product resembles one product of the other source only, in both directions. */
export function clearLinks<T extends { product: LinkName; other: LinkName }>(links: T[]): T[] {
  const seen = new Map<string, number>();
  const keys = (one: T) => [
    JSON.stringify([one.product.source, one.product.sourceId, one.other.source]),
    JSON.stringify([one.other.source, one.other.sourceId, one.product.source]),
  ];
  for (const key of links.flatMap(keys)) seen.set(key, (seen.get(key) ?? 0) + 1);
  return links.filter((one) => keys(one).every((key) => seen.get(key) === 1));
}

/** Accept or refuse all links that a job proposes, in as many requests as it takes. */
export function useDecideAll(jobId: string) {
  const queries = useQueryClient();
  return async (decision: "accept" | "refuse") => {
    let decided = 0;
    let skipped = 0;
    let after: string | null = "";
    while (after !== null) {
      const done: Schemas["JobLinksDecided"] = await ok(
        client.POST("/api/jobs/{job_id}/links", {
          params: { path: { job_id: jobId } },
          body: { decision, after },
        }),
      );
      decided += done.decided;
      skipped += done.skipped;
      after = done.next;
    }
    const left = skipped > 0 ? `; ${skipped} are not clear and need a choice` : "";
    toast.success(`${plural(decided, "link")} ${DONE[decision]}${left}`);
    void queries.invalidateQueries({ queryKey: ["links"] });
    void queries.invalidateQueries({ queryKey: ["products"] });
  };
}

interface Money {
  amount?: unknown;
  currency?: unknown;
  unit?: unknown;
  perUnit?: { amount?: unknown; unit?: unknown } | null;
}

/** How much more or less the other product costs, if both are in one currency and for the same unit. */
export function priceDifference(one: unknown, other: unknown): number | null {
  const [a, b] = [one, other].map((value) => value as Money | null);
  if (!a || !b || !a.currency || a.currency !== b.currency) return null;
  let [first, second] = [priceFor(a), priceFor(b)];
  // A price for 100 pieces and one for a piece are compared per piece.
  if (first.unit !== second.unit) [first, second] = [a.perUnit ?? first, b.perUnit ?? second];
  const [before, after] = [Number(first.amount), Number(second.amount)];
  if (first.unit !== second.unit || !Number.isFinite(before) || !Number.isFinite(after)) return null;
  return before > 0 ? (100 * (after - before)) / before : null;
}

function priceFor(money: Money): { amount?: unknown; unit?: unknown } {
  return { amount: money.amount, unit: money.unit ?? "piece" };
}

/** `+3.2 %`; an empty text where prices cannot be compared. */
export function differenceText(one: unknown, other: unknown): string {
  const percent = priceDifference(one, other);
  if (percent === null) return "";
  const rounded = Math.round(percent * 10) / 10;
  return rounded === 0 ? "same price" : `${rounded > 0 ? "+" : "−"}${Math.abs(rounded)} %`;
}
