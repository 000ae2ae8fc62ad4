import { Link, useSearch } from "@tanstack/react-router";
import { CountersBar, ProgressBar } from "../../components/progress";
import type { FullJob, ItemStatus } from "../../lib/api";
import { cn } from "../../lib/cn";
import { compact, count, percent, perSecond } from "../../lib/format";
import { mayWrite } from "../../lib/intents";
import { COUNTER_OF, ITEM_LOOKS, isLive, TONE_CLASSES } from "../../lib/states";
import { duration } from "../../lib/time";
import { rate } from "../jobs/table";

const ORDER: ItemStatus[] = ["DONE", "ERROR", "NOT_FOUND", "SKIPPED", "PENDING", "PROCESSING"];

/** How far the job is, and its six counters; a click on one shows those rows. */
export function Counters({ job }: { job: FullJob }) {
  const search = useSearch({ from: "/inside/jobs/$jobId" });
  const speed = rate(job);
  const left = job.progress.estimatedRemainingMs;
  const live = isLive(job.state);
  return (
    <div className="mb-4 space-y-3">
      <div className="space-y-1.5">
        {live && !job.standing ? (
          <ProgressBar value={job.progress.percent} label="Progress of the job" />
        ) : (
          <CountersBar counters={job.counters} />
        )}
        <div className="flex flex-wrap gap-x-4 gap-y-0.5 text-sm text-ink-2">
          {!job.standing && <span className="font-medium text-ink">{percent(job.progress.percent)}</span>}
          <span aria-live="polite">{job.progress.message}</span>
          {speed !== null && <span>{perSecond(speed).replace("/s", " rows/s")}</span>}
          {live && left !== null && left >= 1000 && <span>about {duration(left)} left</span>}
          {job.progress.elapsedMs > 0 && <span>{duration(job.progress.elapsedMs)} in total</span>}
          {job.source && (
            <span>
              source{" "}
              <Link to="/products" search={{ source: job.source }} className="plain-link">
                {job.source}
              </Link>
            </span>
          )}
          {!live && !job.undoneAt && mayWrite(job) && (
            <Link to="/products" search={{ job: job.id }} className="plain-link">
              products of this job
            </Link>
          )}
          {job.profile && (
            <span>
              profile{" "}
              <Link
                to="/settings/$part"
                params={{ part: "profiles" }}
                search={{ profile: job.profile.name }}
                className="plain-link"
              >
                {job.profile.name}
              </Link>{" "}
              (version {job.profile.version})
            </span>
          )}
          {job.cachedFrom && (
            <span>
              same file as{" "}
              <Link to="/jobs/$jobId" params={{ jobId: job.cachedFrom }} className="plain-link">
                an earlier job
              </Link>
              , whose results were reused
            </span>
          )}
        </div>
      </div>
      <div className="grid grid-cols-3 gap-2 lg:grid-cols-6">
        {ORDER.map((status) => {
          const { icon: Icon, word, tone } = ITEM_LOOKS[status];
          const value = job.counters[COUNTER_OF[status]];
          const on = search.statuses === status;
          return (
            <Link
              key={status}
              to="/jobs/$jobId"
              params={{ jobId: job.id }}
              search={on ? {} : { statuses: status }}
              replace
              aria-current={on ? "true" : undefined}
              title={on ? "Show all rows" : `Show these rows`}
              className={cn(
                "flex items-center justify-between gap-1 rounded-md border px-2 py-1 hover:border-line-strong sm:flex-col sm:items-start sm:px-3 sm:py-1.5",
                value > 0 ? TONE_CLASSES[tone] : "border-line bg-surface text-ink-3",
                on && "outline-2 outline-accent",
              )}
            >
              <span className="flex items-center gap-1 text-xs">
                <Icon className="size-3" aria-hidden /> {word}
              </span>
              <span className="text-sm font-semibold sm:text-lg sm:leading-6">
                {value < 1_000_000 ? count(value) : compact(value)}
              </span>
            </Link>
          );
        })}
      </div>
    </div>
  );
}
