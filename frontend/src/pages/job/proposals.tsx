import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, Check, Sparkles } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Card } from "../../components/page";
import { List } from "../../components/table";
import { toast } from "../../components/toast";
import { client, type FullJob, type Item, ok } from "../../lib/api";
import { plural, share } from "../../lib/format";
import { PROPOSED, proposalOf } from "../../lib/lookup";
import { useCanWrite } from "../../lib/session";
import { isLive } from "../../lib/states";
import { Changes } from "./changes";

type Decision = "accept" | "refuse";

/** Accept or refuse proposals: of some rows, or of the whole job. */
export function useDecide(job: FullJob) {
  const queries = useQueryClient();
  return async (decision: Decision, itemIds?: number[]) => {
    const body = itemIds ? { itemIds } : {};
    const params = { path: { job_id: job.id } };
    const done = await ok(
      decision === "accept"
        ? client.POST("/api/jobs/{job_id}/proposals/accept", { params, body })
        : client.POST("/api/jobs/{job_id}/proposals/refuse", { params, body }),
    );
    queries.setQueryData(["job", job.id], done.job);
    void queries.invalidateQueries({ queryKey: ["job", job.id] });
    void queries.invalidateQueries({ queryKey: ["operations"] });
    const many = plural(done.reprocessed, "proposal is", "proposals are");
    toast.success(decision === "accept" ? `${many} accepted and written` : `${many} refused`);
  };
}

/** What the enrichment proposes, with the values side by side. */
export function Proposals({ job }: { job: FullJob }) {
  const canWrite = useCanWrite() && !isLive(job.state);
  const decide = useDecide(job);
  const [asking, setAsking] = useState<Decision | null>(null);
  const [error, setError] = useState<unknown>(null);
  const many = job.errors[PROPOSED] ?? 0;
  const rows = useInfiniteQuery({
    queryKey: ["job", job.id, "proposals", many],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/items", {
          params: { path: { job_id: job.id }, query: { code: PROPOSED, pageSize: 50, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const items = rows.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="space-y-3">
      {many > 0 && (
        <div className="flex flex-wrap items-center gap-2">
          <p className="min-w-0 flex-1 text-sm text-ink-2">
            {plural(many, "product")} can be completed. Nothing is written until you accept it.
          </p>
          {canWrite && (
            <>
              <Button onClick={() => setAsking("refuse")}>
                <Ban aria-hidden /> Refuse all
              </Button>
              <Button look="primary" onClick={() => setAsking("accept")}>
                <Check aria-hidden /> Accept all
              </Button>
            </>
          )}
        </div>
      )}
      {error !== null && <ErrorNote error={error} />}
      <List
        query={rows}
        rows={items.length}
        more="Show more proposals"
        empty={
          <EmptyState icon={Sparkles} title="No open proposals">
            {isLive(job.state)
              ? "They appear as products are looked up."
              : "All proposals were accepted or refused, or no missing value was found."}
          </EmptyState>
        }
      >
        <ul className="space-y-3">
          {items.map((item) => (
            <li key={item.id}>
              <ProposalCard
                item={item}
                onDecide={canWrite ? (decision) => decide(decision, [item.rowNo]).catch(setError) : undefined}
              />
            </li>
          ))}
        </ul>
      </List>
      <Confirm
        open={asking !== null}
        onOpenChange={() => setAsking(null)}
        title={
          asking === "refuse" ? `Refuse ${plural(many, "proposal")}?` : `Accept ${plural(many, "proposal")}?`
        }
        action={asking === "refuse" ? "Refuse all" : "Accept all"}
        danger={asking === "refuse"}
        onConfirm={() => decide(asking ?? "refuse")}
      >
        <p>
          {asking === "refuse"
            ? "The products stay as they are."
            : "The values are written to fields that are still empty. Undoing this job reverts that."}
        </p>
      </Confirm>
    </div>
  );
}

function ProposalCard({
  item,
  onDecide,
}: {
  item: Item;
  onDecide?: (decision: Decision) => Promise<unknown>;
}) {
  const [busy, setBusy] = useState<Decision | null>(null);
  const changes = proposalOf(item);
  const cells = (item.result ?? {}) as Record<string, string>;
  const act = async (decision: Decision) => {
    setBusy(decision);
    await onDecide?.(decision);
    setBusy(null);
  };
  const title = cells.title ?? cells.sku ?? `Row ${item.rowNo}`;
  return (
    <Card className="p-4">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 flex-1 text-base font-semibold">
          {cells.productId ? (
            <Link to="/products/$productId" params={{ productId: cells.productId }} className="plain-link">
              {title}
            </Link>
          ) : (
            title
          )}
          <span className="block text-xs font-normal text-ink-2">
            {[cells.sku, cells.source].filter(Boolean).join(" · ")}
          </span>
        </h2>
        {onDecide && (
          <>
            <Button
              size="sm"
              busy={busy === "refuse"}
              aria-label={`Refuse ${title}`}
              onClick={() => void act("refuse")}
            >
              {busy !== "refuse" && <Ban aria-hidden />} Refuse
            </Button>
            <Button
              size="sm"
              look="primary"
              busy={busy === "accept"}
              aria-label={`Accept ${title}`}
              onClick={() => void act("accept")}
            >
              {busy !== "accept" && <Check aria-hidden />} Accept
            </Button>
          </>
        )}
      </div>
      <Changes changes={changes} />
      <p className="mt-2 text-xs text-ink-3">
        From {[...new Set(changes.map((one) => `${one.origin}, ${share(one.confidence)} sure`))].join("; ")}
      </p>
    </Card>
  );
}

/** What the job asks, until it is answered. */
export function ProposalsNote({ job }: { job: FullJob }) {
  const many = job.errors[PROPOSED] ?? 0;
  if (many === 0) return null;
  return (
    <section
      aria-label="Proposals"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border bg-surface px-4 py-2.5 text-sm"
    >
      <Sparkles className="size-4 shrink-0 text-paused" aria-hidden />
      <span className="min-w-0 flex-1 basis-60">
        <strong>{plural(many, "product")} can be completed.</strong> Nothing is written until you accept it.
      </span>
      <Link to="/jobs/$jobId" params={{ jobId: job.id }} search={{ tab: "proposals" }} className="plain-link">
        Show proposals
      </Link>
    </section>
  );
}
