import { useQuery } from "@tanstack/react-query";
import { CircleCheck, Clock } from "lucide-react";
import { EmptyState } from "../../components/empty";
import { Time } from "../../components/time";
import type { FullJob } from "../../lib/api";
import { queueQuery } from "../../lib/queries";
import { Rows } from "./rows";

/** Rows that wait or run, longest untouched first in mind; and why they wait. */
export function Waiting({ job, q, row }: { job: FullJob; q: string | undefined; row: number | undefined }) {
  const why = useReason(job);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      {why && (
        <p className="flex items-center gap-2 rounded-md border bg-sunken px-3 py-2 text-sm text-ink-2">
          <Clock className="size-4 shrink-0" aria-hidden /> <span>{why}</span>
        </p>
      )}
      <Rows
        job={job}
        filter={{ statuses: ["PENDING", "PROCESSING"], q }}
        row={row}
        view="input"
        extra={[
          {
            id: "#held",
            title: "Held by",
            width: 170,
            render: (item) =>
              item.lockedBy ? (
                <span className="font-mono text-xs" title={`since ${item.lockedAt ?? ""}`}>
                  {item.lockedBy}
                </span>
              ) : (
                <span className="text-ink-3">
                  {item.attempts > 0 ? "waiting for retry" : "waiting for its turn"}
                </span>
              ),
          },
        ]}
        empty={
          <EmptyState icon={CircleCheck} title="No waiting rows">
            All rows of this job are finished. Rows waiting for their turn or a retry are listed here.
          </EmptyState>
        }
      />
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
