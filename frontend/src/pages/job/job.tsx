import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { JobPill } from "../../components/status";
import { applyProgress, useChanges } from "../../lib/live";
import { jobQuery } from "../../lib/queries";
import { Controls } from "./controls";
import { Counters } from "./counters";

export default function JobPage() {
  const { jobId } = useParams({ from: "/inside/jobs/$jobId" });
  const queries = useQueryClient();
  const job = useQuery(jobQuery(jobId));
  useChanges(
    useCallback(
      (jobs, events) => {
        applyProgress(queries, events);
        if (jobs === null || jobs.has(jobId)) void queries.invalidateQueries({ queryKey: ["job", jobId] });
      },
      [queries, jobId],
    ),
  );
  if (!job.data) {
    return (
      <Page title="Job">
        {job.error ? <ErrorNote error={job.error} onRetry={() => void job.refetch()} /> : <RowsSkeleton />}
        <Link to="/jobs" className="plain-link mt-4 text-sm">
          All jobs
        </Link>
      </Page>
    );
  }
  return (
    <Page
      title={job.data.name}
      beside={<JobPill state={job.data.state} />}
      actions={<Controls job={job.data} />}
    >
      <Counters job={job.data} />
    </Page>
  );
}
