import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronLeft, Settings2, Table2 } from "lucide-react";
import { useCallback, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { JobPill } from "../../components/status";
import { TabPanel, Tabs } from "../../components/tabs";
import { TourNote } from "../../components/tour";
import { ApiProblem, type FullJob, type ItemStatus } from "../../lib/api";
import { compact } from "../../lib/format";
import { useShortcuts } from "../../lib/keys";
import { applyProgress, useChanges } from "../../lib/live";
import { isEnrichment, PROPOSED } from "../../lib/lookup";
import { jobQuery } from "../../lib/queries";
import { useCanWrite } from "../../lib/session";
import { isLive } from "../../lib/states";
import { AmbiguousNote } from "./ambiguous";
import { Controls } from "./controls";
import { Counters } from "./counters";
import { Errors } from "./errors";
import { Events } from "./events";
import { HeldNote } from "./held";
import { LinksNote } from "./links-note";
import { Phases } from "./phases";
import { Proposals, ProposalsNote } from "./proposals";
import { columnsToMap, Remap } from "./remap";
import { Rows } from "./rows";
import { Summary } from "./summary";
import { Waiting } from "./waiting";
import { Warnings, warningsOf } from "./warnings";

const STATUSES: ItemStatus[] = ["PENDING", "PROCESSING", "DONE", "ERROR", "NOT_FOUND", "SKIPPED"];
const TABS = ["results", "proposals", "pending", "errors", "warnings", "events", "summary"] as const;

export default function JobPage() {
  const { jobId } = useParams({ from: "/inside/jobs/$jobId" });
  const queries = useQueryClient();
  const job = useQuery(jobQuery(jobId));
  useChanges(
    useCallback(
      (jobs, events) => {
        applyProgress(queries, events);
        if (jobs === null || jobs.has(jobId)) {
          void queries.invalidateQueries({ queryKey: ["job", jobId], exact: true });
          void queries.invalidateQueries({ queryKey: ["job", jobId, "item"] });
        }
      },
      [queries, jobId],
    ),
  );
  if (!job.data) {
    return (
      <Page title="Job">
        {job.error ? <ErrorNote error={job.error} onRetry={() => void job.refetch()} /> : <RowsSkeleton />}
        <p className="mt-4 text-sm">
          <Link to="/jobs" className="plain-link">
            All jobs
          </Link>
        </p>
      </Page>
    );
  }
  return <Shown job={job.data} />;
}

function Shown({ job }: { job: FullJob }) {
  const search = useSearch({ from: "/inside/jobs/$jobId" });
  const navigate = useNavigate();
  const tab = TABS.find((one) => one === search.tab) ?? "results";
  const go = (next: string) =>
    void navigate({
      to: "/jobs/$jobId",
      params: { jobId: job.id },
      search: next === "results" ? {} : { tab: next },
      replace: true,
    });
  useShortcuts("Job", {
    e: ["Errors", () => go("errors")],
    s: ["Summary", () => go("summary")],
    u: ["Back to the jobs", () => void navigate({ to: "/jobs" })],
  });
  const statuses = STATUSES.filter((one) => search.statuses?.split(",").includes(one));
  const failed = job.counters.error + job.counters.notFound;
  const waiting = job.counters.pending + job.counters.processing;
  const common = { job, row: search.row, q: search.q };
  const filled = tab !== "events" && tab !== "summary" && tab !== "proposals";
  const warnings = warningsOf(job);
  const error = job.lastError as { code?: string; message?: string } | null;
  return (
    <Page
      title={job.name}
      filled={filled}
      beside={<JobPill state={job.state} undoneAt={job.undoneAt} standing={job.standing} />}
      lead={
        <Link to="/jobs" className="inline-flex items-center text-ink-2 hover:text-ink">
          <ChevronLeft className="size-4" aria-hidden /> Jobs
        </Link>
      }
      actions={<Controls job={job} />}
    >
      {error?.message && job.state !== "done" && (
        <ErrorNote
          className="mb-3"
          action={error.code === "MAPPING_NEEDED" && <RemapButton job={job} />}
          error={
            new ApiProblem(0, error.code ?? "", `${error.message}${error.code ? ` (${error.code})` : ""}`)
          }
        />
      )}
      <TourNote place="job" />
      <Counters job={job} />
      <Phases job={job} />
      <div className="space-y-2 empty:hidden">
        <HeldNote job={job} />
        <LinksNote job={job} />
        <AmbiguousNote job={job} />
        {tab !== "proposals" && <ProposalsNote job={job} />}
      </div>
      <Tabs
        value={tab}
        onChange={go}
        label="Job sections"
        className={filled ? "flex min-h-0 flex-1 flex-col" : undefined}
        tabs={[
          { value: "results", label: "Results" },
          ...(isEnrichment(job)
            ? [
                {
                  value: "proposals",
                  label: <Counted label="Proposals" value={job.errors[PROPOSED] ?? 0} />,
                },
              ]
            : []),
          { value: "pending", label: <Counted label="Pending" value={waiting} /> },
          { value: "errors", label: <Counted label="Errors" value={failed} /> },
          ...(warnings.length > 0
            ? [
                {
                  value: "warnings",
                  label: (
                    <Counted label="Warnings" value={warnings.reduce((sum, one) => sum + one.count, 0)} />
                  ),
                },
              ]
            : []),
          { value: "events", label: "Events" },
          { value: "summary", label: "Summary" },
        ]}
      >
        <TabPanel
          value={tab}
          className={filled ? "flex min-h-0 flex-1 flex-col pt-3 outline-none" : "pt-3 outline-none"}
        >
          {tab === "results" && (
            <Rows
              {...common}
              filter={{ statuses, code: search.code, q: search.q }}
              view="results"
              empty={
                <EmptyState
                  icon={Table2}
                  title={
                    isLive(job.state)
                      ? "Rows appear as they are read"
                      : job.counters.total === 0
                        ? "No rows were stored"
                        : "No rows in this state"
                  }
                >
                  {isLive(job.state)
                    ? "Every row is stored first, then processed. You can leave this page; nothing is lost."
                    : job.counters.total === 0
                      ? "The job ended before the first row was read. See the error above and the events."
                      : "Choose another counter above, or all rows."}
                </EmptyState>
              }
            />
          )}
          {tab === "proposals" && <Proposals job={job} />}
          {tab === "pending" && <Waiting job={job} row={search.row} q={search.q ?? ""} />}
          {tab === "errors" && <Errors {...common} code={search.code} />}
          {tab === "warnings" && <Warnings {...common} warnings={warnings} problem={search.problem} />}
          {tab === "events" && <Events job={job} />}
          {tab === "summary" && <Summary job={job} />}
        </TabPanel>
      </Tabs>
    </Page>
  );
}

/** Leads from a job that failed for want of a mapping to its columns. */
function RemapButton({ job }: { job: FullJob }) {
  const [asking, setAsking] = useState(false);
  const canWrite = useCanWrite();
  if (!canWrite || !columnsToMap(job)) return null;
  return (
    <>
      <Button size="sm" onClick={() => setAsking(true)}>
        <Settings2 aria-hidden /> Remap columns
      </Button>
      {asking && <Remap job={job} onClose={() => setAsking(false)} />}
    </>
  );
}

function Counted({ label, value }: { label: string; value: number }) {
  return (
    <>
      {label}
      {value > 0 && <span className="rounded-full bg-hover px-1.5 text-xs text-ink-2">{compact(value)}</span>}
    </>
  );
}
