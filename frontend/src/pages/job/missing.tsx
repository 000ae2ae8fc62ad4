import { Card } from "../../components/page";
import type { FullJob } from "../../lib/api";
import { count, plural } from "../../lib/format";

interface MissingProducts {
  mode: "report" | "unpublish";
  count: number;
  unpublished: number;
  examples: { sourceId: string; sku: string | null; title: string | null }[];
  /** Why nothing may be concluded from what the file lacks. */
  incomplete?: string;
}

/** Products of the source that the file lacks, where that was asked for. */
export function missingOf(job: FullJob): MissingProducts | null {
  const summary = job.summary as { missing?: MissingProducts } | null;
  return summary?.missing ?? null;
}

export function Missing({ missing }: { missing: MissingProducts }) {
  return (
    <Card className="p-4">
      <h2 className="mb-1 text-base font-semibold">Missing products</h2>
      <p className="text-sm text-ink-2">
        {missing.count === 0
          ? "The file contains every product of its source."
          : `${plural(missing.count, "product", "products")} of the source ${missing.count === 1 ? "is" : "are"} not in it. ${
              missing.mode === "unpublish"
                ? `${count(missing.unpublished)} of them were unpublished.`
                : "They were not changed."
            }`}
      </p>
      {missing.incomplete && (
        <p className="mt-1 text-sm text-not-found">{missing.incomplete} So nothing was concluded from it.</p>
      )}
      {missing.examples.length > 0 && (
        <ul className="mt-2 divide-y border-t text-sm">
          {missing.examples.map((one) => (
            <li key={one.sourceId} className="flex gap-3 py-1.5">
              <span className="w-32 shrink-0 truncate font-mono text-xs leading-5">
                {one.sku ?? one.sourceId}
              </span>
              <span className="min-w-0 truncate">{one.title}</span>
            </li>
          ))}
        </ul>
      )}
      {missing.count > missing.examples.length && (
        <p className="mt-2 text-xs text-ink-3">The full list is under Export.</p>
      )}
    </Card>
  );
}
