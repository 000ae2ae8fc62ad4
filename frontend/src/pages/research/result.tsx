import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ListChecks, RotateCcw, SearchX } from "lucide-react";
import { useCallback, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { ProgressBar } from "../../components/progress";
import { JobPill } from "../../components/status";
import { List, Table } from "../../components/table";
import { client, ok } from "../../lib/api";
import { applyProgress, useChanges } from "../../lib/live";
import { jobQuery } from "../../lib/queries";
import { productOf, type SourceState, sourceStates, summariesOf } from "../../lib/research";
import { useCanWrite } from "../../lib/session";
import { ProductRows } from "./product-rows";
import { ResultExport } from "./result-export";
import { SourceTable } from "./source-table";

const ENDED = ["done", "failed", "cancelled"];

/** One request: how far each source is, and the merged products with their prices. */
export default function ResearchResult() {
  const { jobId } = useParams({ from: "/inside/research/$jobId" });
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const job = useQuery(jobQuery(jobId));
  const [states, setStates] = useState<Record<string, SourceState>>({});
  const [error, setError] = useState<unknown>(null);
  const [again, setAgain] = useState<string | null>(null);
  const ended = ENDED.includes(job.data?.state ?? "");
  const items = useInfiniteQuery({
    queryKey: ["research", jobId, "items"],
    initialPageParam: "",
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/items", {
          params: { path: { job_id: jobId }, query: { pageSize: 100, after: pageParam } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
  useChanges(
    useCallback(
      (jobs, events) => {
        if (jobs && !jobs.has(jobId)) return;
        const mine = events.filter((one) => one.jobId === jobId);
        setStates((known) => sourceStates(known, mine));
        applyProgress(queries, mine);
        void queries.invalidateQueries({ queryKey: ["job", jobId] });
        void queries.invalidateQueries({ queryKey: ["research", jobId] });
      },
      [jobId, queries],
    ),
  );
  const products = (items.data?.pages ?? []).flatMap((page) => page.items).map(productOf);
  const summaries = summariesOf(job.data);
  const failed = Object.values(summaries ?? {}).filter((one) => one.failed !== null).length;
  const told = (job.data?.summary ?? {}) as { requestId?: string; products?: number };
  const retry = async () => {
    setError(null);
    try {
      const made = await ok(
        client.POST("/api/jobs", {
          body: {
            pipeline: "research-retry",
            config: { originalRequestId: told.requestId ?? jobId },
            name: job.data?.name ?? "",
          },
        }),
      );
      setAgain(made.jobId);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Page
      title={job.data?.name ?? "Research"}
      beside={job.data && <JobPill state={job.data.state} />}
      lead={
        <>
          <Link to="/research" className="text-accent underline underline-offset-2">
            Research
          </Link>{" "}
          · {products.length === 1 ? "1 product" : `${told.products ?? products.length} products`}
        </>
      }
      actions={
        <>
          {canWrite && ended && failed > 0 && (
            <Button onClick={() => void retry()}>
              <RotateCcw aria-hidden /> Ask failed sources again
            </Button>
          )}
          <Button asChild>
            <Link to="/jobs/$jobId" params={{ jobId }}>
              <ListChecks aria-hidden /> Job
            </Link>
          </Button>
          <ResultExport jobId={jobId} name={job.data?.name ?? "research"} />
        </>
      }
    >
      {error !== null && <ErrorNote error={error} className="mb-4" />}
      {job.error && <ErrorNote error={job.error} className="mb-4" />}
      {again && (
        <p role="status" className="mb-4 text-sm">
          The sources that failed are asked again:{" "}
          <Link
            to="/research/$jobId"
            params={{ jobId: again }}
            className="text-accent underline underline-offset-2"
          >
            see the new attempt
          </Link>
        </p>
      )}
      {job.data && !ended && (
        <div className="mb-4" aria-live="polite">
          <ProgressBar value={job.data.progress.percent} label="Progress of the request" />
          <p className="mt-1 text-sm text-ink-2">{job.data.progress.message}</p>
        </div>
      )}
      <SourceTable states={states} summaries={summaries} />
      <h2 className="mt-5 mb-2 text-base font-semibold">Products</h2>
      <List
        query={items}
        rows={products.length}
        empty={
          <EmptyState icon={SearchX} title={ended ? "No product matches" : "Waiting for the sources"}>
            {ended
              ? "No source has a matching product. Try fewer words or a wider price range."
              : "Products appear once every source has answered or failed."}
          </EmptyState>
        }
      >
        <Table
          label="Products"
          head={[
            { label: "#", className: "text-right" },
            { label: "Product" },
            { label: "Best price", className: "text-right" },
            { label: "Availability" },
            { label: "Sources" },
            { label: "Score", className: "text-right" },
          ]}
        >
          {products.map((one) => (
            <ProductRows key={one.row} product={one} />
          ))}
        </Table>
      </List>
    </Page>
  );
}
