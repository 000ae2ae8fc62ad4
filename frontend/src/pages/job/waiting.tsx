import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleCheck, Clock } from "lucide-react";
import { useCallback, useState } from "react";
import { EmptyState } from "../../components/empty";
import { List } from "../../components/table";
import { Time } from "../../components/time";
import { client, type FullJob, ok } from "../../lib/api";
import { useChanges } from "../../lib/live";
import { queueQuery } from "../../lib/queries";
import { useCanWrite, useSession } from "../../lib/session";
import { type PendingRow, PendingRows } from "../pending/rows";
import { OpenSelection } from "../pending/selected";
import { RowDrawer } from "./drawer";
import { SearchBox } from "./rows-toolbar";

/** Rows that wait or run, longest untouched first, and why they wait. */
export function Waiting({ job, row, q }: { job: FullJob; row: number | undefined; q: string }) {
  const why = useReason(job);
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const admin = useSession().user.role === "admin";
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const rows = useInfiniteQuery({
    queryKey: ["pending", "job", job.id, q],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/pending", {
          params: { path: { job_id: job.id }, query: { pageSize: 100, after: pageParam, q } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const { refetch } = rows;
  const isNear = (rows.data?.pages.length ?? 0) <= 3;
  useChanges(
    useCallback(
      // Far down a long list, what was read stays as it was.
      (jobs) => void ((jobs === null || jobs.has(job.id)) && isNear && refetch()),
      [job.id, isNear, refetch],
    ),
  );
  const clear = () => {
    setChosen(new Set());
    setAll(false);
  };
  const items = rows.data?.pages.flatMap((page) => page.items) ?? [];
  const select = (one: PendingRow) => {
    const next = new Set(all ? [] : chosen);
    if (!next.delete(one.id)) next.add(one.id);
    setAll(false);
    setChosen(next);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      {why && (
        <p className="flex items-center gap-2 rounded-md border bg-sunken px-3 py-2 text-sm text-ink-2">
          <Clock className="size-4 shrink-0" aria-hidden /> <span>{why}</span>
        </p>
      )}
      {(q !== "" || job.counters.pending + job.counters.processing > 0) && (
        <div>
          <SearchBox job={job} q={q} />
        </div>
      )}
      {(all || chosen.size > 0) && (
        <OpenSelection
          selected={chosen.size}
          all={all}
          // All that match a search are not counted, so that they are not offered.
          matching={q ? chosen.size : job.counters.pending + job.counters.processing}
          onTakeAll={() => setAll(true)}
          onClear={clear}
          which={() =>
            all ? { all: { jobId: job.id, userId: admin ? "all" : "me" } } : { rows: [...chosen] }
          }
          onDone={() => void refetch()}
        />
      )}
      <List
        query={rows}
        rows={items.length}
        empty={
          <EmptyState icon={CircleCheck} title={q ? "No waiting row matches" : "No waiting rows"}>
            {q
              ? "Title, brand, SKU and the number of the row are searched."
              : job.counters.pending > 0
                ? "Rows that were read and not yet stored are counted, but not listed."
                : "All rows of this job are finished. Rows waiting for their turn or a retry are listed here."}
          </EmptyState>
        }
      >
        <PendingRows
          inJob
          rows={items}
          selectable={canWrite}
          isSelected={(one) => all || chosen.has(one.id)}
          onSelect={select}
          onSelectAll={(on) => {
            setAll(false);
            setChosen(new Set(on ? items.map((one) => one.id) : []));
          }}
        />
      </List>
      {row !== undefined && (
        <RowDrawer
          job={job}
          row={row}
          onClose={() =>
            void navigate({
              to: "/jobs/$jobId",
              params: { jobId: job.id },
              search: { tab: "pending", q: q || undefined },
              replace: true,
            })
          }
          onChanged={() => void refetch()}
        />
      )}
    </div>
  );
}

function useReason(job: FullJob) {
  const queue = useQuery(queueQuery).data;
  if (job.state === "paused") return "The job is paused. Resume it to continue.";
  if (job.lanePaused) return `Its lane ${job.lane} is paused by an admin; its jobs start when it is resumed.`;
  if (job.state === "delayed" && job.dueAt) {
    return (
      <>
        Starts <Time at={job.dueAt} />.
      </>
    );
  }
  if (queue?.workers === 0)
    return "No worker is running. Start one, or choose “Process now” in the job's menu.";
  if (job.state === "queued") return "Waiting for a free worker. Organisations take turns.";
  return null;
}
