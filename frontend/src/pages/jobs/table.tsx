import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { CountersBar } from "../../components/progress";
import { JobPill } from "../../components/status";
import { Time } from "../../components/time";
import type { Job } from "../../lib/api";
import { cn } from "../../lib/cn";
import { count, perSecond, plural } from "../../lib/format";
import { useShortcuts } from "../../lib/keys";
import { usePrefs } from "../../lib/prefs";
import { isLive } from "../../lib/states";
import { duration } from "../../lib/time";

export function rate(job: Job): number | null {
  const { rowsRun, elapsedMs } = job.progress;
  // Of a few rows, only the time to begin could be told.
  return rowsRun >= 100 && elapsedMs > 0 ? (1000 * rowsRun) / elapsedMs : null;
}

export function JobsTable({ jobs }: { jobs: Job[] }) {
  const navigate = useNavigate();
  const [at, setAt] = useState(-1);
  const { density } = usePrefs();
  const move = (step: number) => {
    const next = Math.max(0, Math.min(jobs.length - 1, at + step));
    setAt(next);
    document.getElementById(`job-${jobs[next]?.id}`)?.scrollIntoView({ block: "nearest" });
  };
  useShortcuts("Jobs", {
    j: ["Next job", () => move(1)],
    k: ["Job before", () => move(-1)],
    Enter: [
      "Open the job",
      () => {
        const job = jobs[at];
        if (job) void navigate({ to: "/jobs/$jobId", params: { jobId: job.id } });
      },
    ],
  });
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-left text-sm">
        <thead>
          <tr className="h-9 border-b bg-sunken text-xs text-ink-2 [&>th]:px-3 [&>th]:font-medium">
            <th>Name</th>
            <th className="hidden sm:table-cell">State</th>
            <th className="hidden w-1/6 sm:table-cell">Rows</th>
            <th className="hidden text-right sm:table-cell">Done</th>
            <th className="hidden text-right lg:table-cell">Rate</th>
            <th className="hidden text-right lg:table-cell">Left</th>
            <th className="hidden text-right sm:table-cell">Errors</th>
            <th className="hidden xl:table-cell">Pipeline</th>
            <th className="hidden 2xl:table-cell">Owner</th>
            <th className="hidden text-right md:table-cell">Created</th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {jobs.map((job, index) => (
            <JobRow key={job.id} job={job} here={index === at} compact={density === "compact"} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function JobRow({ job, here, compact }: { job: Job; here: boolean; compact: boolean }) {
  const { counters } = job;
  const speed = rate(job);
  const ended = counters.total - counters.pending - counters.processing;
  const left = isLive(job.state) ? job.progress.estimatedRemainingMs : null;
  const problems = counters.error + counters.notFound;
  return (
    <tr
      id={`job-${job.id}`}
      className={cn(
        "relative hover:bg-hover [&>td]:px-3",
        compact ? "h-7" : "h-9",
        here && "bg-accent-soft outline-2 -outline-offset-2 outline-accent",
      )}
    >
      <td className="w-full max-w-0 truncate max-sm:py-2 sm:w-2/5">
        <Link
          to="/jobs/$jobId"
          params={{ jobId: job.id }}
          className="font-medium after:absolute after:inset-0"
          title={job.name}
        >
          {job.name}
        </Link>
        <span className="mt-1 flex items-center gap-2 text-xs text-ink-3 sm:hidden">
          <JobPill state={job.state} undoneAt={job.undoneAt} />
          <span className="truncate">
            {count(ended)} / {count(counters.total)} rows
            {problems > 0 && <span className="font-medium text-error"> · {plural(problems, "error")}</span>} ·{" "}
            <Time at={job.createdAt} />
          </span>
        </span>
      </td>
      <td className="hidden sm:table-cell">
        <JobPill state={job.state} undoneAt={job.undoneAt} />
      </td>
      <td className="hidden sm:table-cell">
        <CountersBar counters={counters} />
      </td>
      <td className="hidden text-right whitespace-nowrap sm:table-cell">
        {counters.total === 0 ? (
          <span className="text-ink-3">–</span>
        ) : (
          <>
            {count(ended)} <span className="text-ink-3">/ {count(counters.total)}</span>
          </>
        )}
      </td>
      <td className="hidden text-right whitespace-nowrap text-ink-2 lg:table-cell">
        {speed === null ? "–" : perSecond(speed)}
      </td>
      <td className="hidden text-right whitespace-nowrap text-ink-2 lg:table-cell">
        {left === null ? "–" : duration(left)}
      </td>
      <td
        className={cn(
          "hidden text-right sm:table-cell",
          problems > 0 ? "font-medium text-error" : "text-ink-3",
        )}
      >
        {count(problems)}
      </td>
      <td className="hidden text-ink-2 xl:table-cell">{job.pipeline}</td>
      <td className="hidden max-w-48 truncate text-ink-2 2xl:table-cell">{job.owner}</td>
      <td className="hidden text-right whitespace-nowrap text-ink-2 md:table-cell">
        <Time at={job.createdAt} />
      </td>
    </tr>
  );
}
