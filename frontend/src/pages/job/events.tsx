import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { History } from "lucide-react";
import { useCallback } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { RowsSkeleton } from "../../components/skeleton";
import { Time } from "../../components/time";
import { client, type FullJob, type JobEvent, ok, type Schemas } from "../../lib/api";
import { codeLabel } from "../../lib/codes";
import { count } from "../../lib/format";
import { label } from "../../lib/labels";
import { useChanges } from "../../lib/live";
import { duration } from "../../lib/time";

const PAGE = 200;

/** What happened to the job, in order and without gaps. */
export function Events({ job }: { job: FullJob }) {
  const queries = useQueryClient();
  const events = useInfiniteQuery({
    queryKey: ["job", job.id, "events"],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/events", {
          params: { path: { job_id: job.id }, query: { since: pageParam, limit: PAGE } },
          headers: { Accept: "application/json" },
          signal,
        }),
      ) as Promise<Schemas["EventPage"]>,
    initialPageParam: 0,
    getNextPageParam: (page) => (page.items.length === PAGE ? page.next : undefined),
  });
  useChanges(
    useCallback(
      (jobs) => {
        if (jobs === null || jobs.has(job.id))
          void queries.invalidateQueries({ queryKey: ["job", job.id, "events"] });
      },
      [queries, job.id],
    ),
  );
  const list = events.data?.pages.flatMap((page) => page.items) ?? [];
  if (events.error && list.length === 0)
    return <ErrorNote error={events.error} onRetry={() => void events.refetch()} />;
  if (events.isPending) return <RowsSkeleton />;
  if (list.length === 0) return <EmptyState icon={History} title="No events yet" />;
  return (
    <div className="space-y-3">
      <ol className="divide-y rounded-lg border bg-surface">
        {list.map((event) => (
          <li key={event.seq} className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 px-4 py-1.5 text-sm">
            <span className="w-8 text-right font-mono text-xs text-ink-3">{event.seq}</span>
            <span className="w-36 font-medium" title={event.event}>
              {codeLabel(event.event.replace("job.", ""))}
            </span>
            <span className="min-w-0 flex-1 basis-48 break-words text-ink-2">{told(event)}</span>
            <Time at={event.timestamp} className="text-xs text-ink-3" />
          </li>
        ))}
      </ol>
      {events.hasNextPage && (
        <Button busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
          Later events
        </Button>
      )}
    </div>
  );
}

function told(event: JobEvent): string {
  const data = event.data as Record<string, unknown>;
  if (typeof data.message === "string") return data.message;
  return Object.entries(data)
    .filter(([, value]) => value !== null && typeof value !== "object")
    .map(([name, value]) => `${nameOf(name)} ${shown(name, value)}`)
    .join(" · ");
}

/** `estimatedWaitMs` → “estimated wait”. */
function nameOf(name: string): string {
  return label(name.replace(/Ms$/, "")).replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
}

function shown(name: string, value: unknown): string {
  if (typeof value !== "number") return String(value);
  return name.endsWith("Ms") ? duration(value) : count(value);
}
