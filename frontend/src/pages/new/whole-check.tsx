import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListChecks, X } from "lucide-react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Card } from "../../components/page";
import { ProgressBar } from "../../components/progress";
import { client, type FullJob, ok, type Preview } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { count, plural } from "../../lib/format";
import { jobQuery } from "../../lib/queries";
import { randomId } from "../../lib/random";
import { isLive } from "../../lib/states";
import { HeldNote } from "../job/held";
import { rowsLeftOut } from "../job/left-out";
import { LinksNote } from "../job/links-note";
import { missingOf } from "../job/missing";
import { warningsOf } from "../job/warnings";
import { FiguresOfCheck } from "./column-figures";
import { configOf, type Draft, readingOf } from "./draft";

interface Props {
  preview: Preview;
  fileId: string;
  fileName: string;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

/** The check of the whole file with the present choices; null where there is none. */
export function useWholeCheck(draft: Draft): FullJob | null {
  const known = draft.checked?.config === readingOf(draft) ? draft.checked.jobId : null;
  const job = useQuery({
    ...jobQuery(known ?? ""),
    enabled: known !== null,
    refetchInterval: (query) => (query.state.data && !isLive(query.state.data.state) ? false : 1000),
  });
  return known === null ? null : (job.data ?? null);
}

/** All rows, checked in the background by a job that writes nothing. */
export function WholeCheck({ preview, fileId, fileName, draft, change }: Props) {
  const { busy, error, attempt } = useAttempt();
  const job = useWholeCheck(draft);
  const showsAll = preview.rowsEstimated <= preview.rows.length;
  if (showsAll && !job && preview.rows.every((row) => row.problems.length === 0)) return null;
  const about = preview.rowsEstimated > preview.rowsSampled ? "about " : "";
  const start = () =>
    attempt(async () => {
      const { intent: _intent, ...config } = configOf(draft);
      const made = await ok(
        client.POST("/api/jobs", {
          headers: { "Idempotency-Key": `ui-${randomId()}` },
          body: {
            fileId,
            config: { ...config, missing: "report" },
            priority: "high",
            name: `Check of ${fileName}`,
          } as never,
        }),
      );
      change({ checked: { jobId: made.jobId, config: readingOf(draft) } });
    });
  const cancel = () =>
    attempt(async () => {
      if (!job) return;
      await ok(client.POST("/api/jobs/{job_id}/cancel", { params: { path: { job_id: job.id } } }));
    });
  return (
    <Card className="space-y-3 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="text-base font-semibold">Whole file</h2>
        <p className="min-w-0 flex-1 text-sm text-ink-2 max-sm:order-last max-sm:basis-full" role="status">
          {job
            ? told(job)
            : showsAll
              ? "The rows below are all rows. To correct some of them before the import, check the file: nothing is written."
              : "The rows below are the first ones only. Check all rows to see exact numbers."}
        </p>
        {job && isLive(job.state) ? (
          <Button size="sm" busy={busy} onClick={cancel}>
            <X aria-hidden /> Cancel the check
          </Button>
        ) : (
          !job && (
            <Button size="sm" look="primary" busy={busy} onClick={start}>
              {!busy && <ListChecks aria-hidden />}
              {showsAll ? "Check and correct rows" : `Check all ${about}${count(preview.rowsEstimated)} rows`}
            </Button>
          )
        )}
        {job && !isLive(job.state) && (
          <Link to="/jobs/$jobId" params={{ jobId: job.id }} className="plain-link text-sm">
            Review and correct rows
          </Link>
        )}
      </div>
      {job && isLive(job.state) && <ProgressBar value={job.progress.percent} label="Progress of the check" />}
      {job?.summary && <Figures job={job} />}
      {job && job.state !== "failed" && <FiguresOfCheck job={job} />}
      {job && <HeldNote job={job} />}
      {job && <LinksNote job={job} />}
      {error !== null && <ErrorNote error={error} />}
    </Card>
  );
}

function told(job: FullJob): string {
  if (job.state === "cancelled") return "The check was cancelled.";
  if (job.state === "failed") return "The check failed. Open it to see why.";
  if (isLive(job.state)) return job.progress.message;
  return `All ${plural(job.counters.total, "row")} checked. Nothing was written.`;
}

function Figures({ job }: { job: FullJob }) {
  const summary = job.summary as unknown as Record<string, number>;
  const warnings = warningsOf(job).reduce((sum, one) => sum + one.count, 0);
  const figures: [string, number | undefined][] = [
    ["Valid", summary.valid],
    ["Warnings", warnings],
    ["Invalid", summary.invalid],
    ["New", summary.new],
    ["Changed", summary.changed],
    ["Unchanged", summary.unchanged],
    ["Duplicates", summary.duplicates],
    ["Held back", summary.held],
    ["Left out", rowsLeftOut(job)],
    ["Missing from the file", missingOf(job)?.count],
  ];
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(6rem,1fr))] gap-3">
      {figures.map(([label, value]) => (
        <div key={label}>
          <dt className="text-xs text-ink-2">{label}</dt>
          <dd className="text-lg leading-6 font-semibold">{count(value ?? 0)}</dd>
        </div>
      ))}
    </dl>
  );
}
