import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Undo2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok, type Schemas } from "../../lib/api";
import { plural } from "../../lib/format";
import { label } from "../../lib/labels";
import { useCanWrite } from "../../lib/session";
import { Changes } from "../job/changes";

type Change = Schemas["ProductChange"];

/** What jobs and people did to the product, the latest first. */
export function History({ productId }: { productId: string }) {
  const history = useInfiniteQuery({
    queryKey: ["products", "history", productId],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/products/{product_id}/history", {
          params: { path: { product_id: productId }, query: { pageSize: 20, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = history.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">History</h2>
      {history.error && <ErrorNote error={history.error} onRetry={() => void history.refetch()} />}
      <ol aria-label="History" className="space-y-2">
        {rows.map((change) => (
          <Entry key={`${change.version} ${change.changedAt}`} productId={productId} change={change} />
        ))}
      </ol>
      {history.hasNextPage && (
        <Button
          className="mt-2"
          busy={history.isFetchingNextPage}
          onClick={() => void history.fetchNextPage()}
        >
          Earlier changes
        </Button>
      )}
    </section>
  );
}

function Entry({ productId, change }: { productId: string; change: Change }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="rounded-lg border bg-surface p-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone={change.undoneAt ? "skipped" : "processing"}>{label(change.kind)}</Badge>
        {change.jobId ? (
          <Link
            to="/jobs/$jobId"
            params={{ jobId: change.jobId }}
            search={{ row: change.rowNo ?? undefined }}
            className="plain-link min-w-0 truncate"
          >
            {change.jobName ?? "a job"}, row {change.rowNo}
          </Link>
        ) : (
          <span className="min-w-0 truncate">by {change.editedBy ?? "a user"}</span>
        )}
        <Time at={change.changedAt} className="text-ink-3" />
        {change.undoneAt && (
          <span className="inline-flex items-center gap-1 text-ink-2">
            <Undo2 className="size-3.5" aria-hidden /> undone <Time at={change.undoneAt} />
          </span>
        )}
        {change.kind === "edited" && change.editId && !change.undoneAt && (
          <UndoEdit productId={productId} editId={change.editId} />
        )}
      </div>
      {change.changes && change.changes.length > 0 && (
        <div className="mt-2">
          {open || change.kind === "edited" ? (
            <Changes changes={change.changes} />
          ) : (
            <Button size="sm" look="quiet" onClick={() => setOpen(true)}>
              {plural(change.changes.length, "field")} {change.kind === "created" ? "filled" : "changed"}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

function UndoEdit({ productId, editId }: { productId: string; editId: string }) {
  const canWrite = useCanWrite();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  if (!canWrite) return null;
  const undo = async () => {
    setError(null);
    try {
      await ok(
        client.POST("/api/products/{product_id}/edits/{edit_id}/undo", {
          params: { path: { product_id: productId, edit_id: editId } },
        }),
      );
      toast.success("The edit is undone. Imports change its fields again.");
      await queries.invalidateQueries({ queryKey: ["products"] });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <Button size="sm" look="quiet" onClick={() => void undo()}>
        <Undo2 aria-hidden /> Undo edit
      </Button>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
