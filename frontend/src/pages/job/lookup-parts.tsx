import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, Check } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Badge } from "../../components/status";
import { toast } from "../../components/toast";
import { client, type FullJob, type Item, ok } from "../../lib/api";
import { share } from "../../lib/format";
import { gtin } from "../../lib/labels";
import { type Candidate, candidatesOf, outcomeLabel, variantLabel } from "../../lib/lookup";

interface Props {
  job: FullJob;
  item: Item;
  canChoose: boolean;
  onChanged: () => void;
}

/** Products that a row may mean, to choose from. */
export function Candidates({ job, item, canChoose, onChanged }: Props) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const candidates = candidatesOf(item);
  const match = item.normalized?.match as Candidate | undefined;
  const choose = async (key: string | null) => {
    setBusy(key ?? "none");
    setError(null);
    try {
      const done = await ok(
        client.POST("/api/jobs/{job_id}/items/{item}/choose", {
          params: { path: { job_id: job.id, item: String(item.rowNo) } },
          body: { candidate: key },
        }),
      );
      queries.setQueryData(["job", job.id], done.job);
      toast.success(key ? "Chosen" : "Marked as not found");
      onChanged();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(null);
    }
  };
  return (
    <div className="space-y-2">
      <ul className="divide-y rounded-md border" aria-label="Candidates">
        {candidates.map((one) => (
          <li key={one.key} className="flex items-center gap-3 px-3 py-2 text-sm">
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium">
                {one.productId ? (
                  <Link
                    to="/products/$productId"
                    params={{ productId: one.productId }}
                    className="plain-link"
                  >
                    {one.title ?? one.key}
                  </Link>
                ) : (
                  (one.title ?? one.key)
                )}
              </span>
              <span className="block text-xs text-ink-2">
                {[one.brand, one.sku, gtin(one.gtin), one.source].filter(Boolean).join(" · ")}
              </span>
            </span>
            <span className="text-xs whitespace-nowrap text-ink-2">
              {share(one.confidence)}, {variantLabel(one.matchedBy)}
            </span>
            {match?.key === one.key ? (
              <Badge tone="done">Match</Badge>
            ) : (
              canChoose && (
                <Button
                  size="sm"
                  busy={busy === one.key}
                  aria-label={`Choose ${one.title ?? one.key}`}
                  onClick={() => void choose(one.key)}
                >
                  {busy !== one.key && <Check aria-hidden />} Choose
                </Button>
              )
            )}
          </li>
        ))}
      </ul>
      {error !== null && <ErrorNote error={error} />}
      {canChoose && (
        <Button size="sm" look="quiet" busy={busy === "none"} onClick={() => void choose(null)}>
          {busy !== "none" && <Ban aria-hidden />} None of them
        </Button>
      )}
    </div>
  );
}

/** Every search that was made for a row. */
export function SearchList({ job, item }: { job: FullJob; item: Item }) {
  const searches = useQuery({
    queryKey: ["job", job.id, "item", item.rowNo, "searches", item.updatedAt],
    queryFn: ({ signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/items/{item}/searches", {
          params: { path: { job_id: job.id, item: String(item.rowNo) }, query: { pageSize: 100 } },
          signal,
        }),
      ),
  });
  if (searches.error) return <ErrorNote error={searches.error} onRetry={() => void searches.refetch()} />;
  const rows = searches.data?.searches ?? [];
  if (rows.length === 0) {
    return <p className="text-sm text-ink-2">{searches.isPending ? "Loading …" : "No searches yet."}</p>;
  }
  return (
    <div className="overflow-x-auto rounded-md border" tabIndex={0} role="region" aria-label="Searches">
      <table className="w-full text-left text-sm">
        <thead className="bg-sunken text-xs text-ink-2">
          <tr className="[&>th]:px-3 [&>th]:py-1.5 [&>th]:font-medium">
            <th>Try</th>
            <th>Where</th>
            <th>By</th>
            <th>Query</th>
            <th>Outcome</th>
            <th className="text-right">Time</th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {rows.map((one) => (
            <tr key={one.id} className="[&>td]:px-3 [&>td]:py-1.5">
              <td>{one.attempt}</td>
              <td>{one.provider === "catalog" ? "Catalog" : one.provider}</td>
              <td className="whitespace-nowrap">{variantLabel(one.variant)}</td>
              <td className="max-w-48 truncate" title={one.query}>
                {one.query}
              </td>
              <td className="whitespace-nowrap" title={(one.error as { message?: string } | null)?.message}>
                {outcomeLabel(one.outcome)}
                {one.score !== null && <span className="text-ink-2">, {share(one.score)}</span>}
              </td>
              <td className="text-right whitespace-nowrap text-ink-2">{one.latencyMs.toFixed(1)} ms</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
