import { useQuery } from "@tanstack/react-query";
import {
  CircleCheck,
  CircleMinus,
  CirclePause,
  CircleX,
  Clock,
  Copy,
  Database,
  type LucideIcon,
  Table2,
  TriangleAlert,
  Unplug,
} from "lucide-react";
import { client, type FullJob, ok, type Preview } from "../../lib/api";
import { cn } from "../../lib/cn";
import { queueQuery } from "../../lib/queries";
import { rowsLeftOut } from "../job/left-out";
import { missingOf } from "../job/missing";
import { warningsOf } from "../job/warnings";
import type { Draft } from "./draft";
import { type Line, type Looked, measuredRate, planOf, rateTold, timeTaken } from "./plan";
import { useWholeCheck } from "./whole-check";

const LOOKS: Record<Line["kind"], [LucideIcon, string]> = {
  rows: [Table2, "text-ink-3"],
  write: [CircleCheck, "text-done"],
  leave: [CircleMinus, "text-ink-3"],
  error: [CircleX, "text-error"],
  warning: [TriangleAlert, "text-not-found"],
  duplicate: [Copy, "text-paused"],
  held: [CirclePause, "text-paused"],
};

/** In plain words, before anything is done: what is read and written, what goes wrong, how long it takes. */
export function WhatHappens({ preview, draft }: { preview: Preview; draft: Draft }) {
  const summary = preview.summary as Record<string, number | null>;
  const recent = useQuery({
    queryKey: ["recent-jobs", "extraction"],
    queryFn: ({ signal }) =>
      ok(
        client.GET("/api/jobs", {
          params: { query: { pipeline: "extraction", state: ["done"], pageSize: 20 } },
          signal,
        }),
      ),
    staleTime: 60_000,
  });
  const workers = useQuery(queueQuery).data?.workers;
  const rate = measuredRate(recent.data?.items.map((job) => job.progress) ?? []);
  const checked = useWholeCheck(draft);
  const whole = checked?.state === "done" ? checked : null;
  const sample = preview.rowsEstimated <= preview.rows.length;
  const exact = sample || whole !== null;
  const lines = planOf(
    whole
      ? wholeFile(whole)
      : {
          total: preview.rowsEstimated,
          counted: preview.rowsEstimated <= preview.rowsSampled,
          shown: preview.rows.length,
          exact,
          valid: summary.valid ?? 0,
          invalid: summary.invalid ?? 0,
          discarded: summary.discarded ?? 0,
          new: summary.new ?? 0,
          changed: summary.changed ?? 0,
          unchanged: summary.unchanged ?? 0,
          held: summary.held ?? 0,
          warned: preview.rows.flatMap((row) => row.problems.filter((one) => one.severity === "warning"))
            .length,
          duplicates: exact ? (summary.duplicate ?? 0) : (summary.duplicatesEstimate ?? null),
        },
    draft,
  );
  return (
    <section aria-labelledby="what-happens" className="border-t pt-3">
      <h3 id="what-happens" className="mb-2 text-sm font-semibold">
        What will happen
      </h3>
      <ul className="space-y-1.5 text-sm" aria-live="polite">
        {lines.map((line) => (
          <Told key={line.text} icon={LOOKS[line.kind][0]} tone={LOOKS[line.kind][1]}>
            {line.text}
          </Told>
        ))}
        <Told icon={Database} tone="text-ink-3">
          Rows are compared with products of the source <strong>{preview.source}</strong>
          {preview.source === "file" ? ", shared by all files without a source" : ""}, and change no others
          {preview.summary.linked ? "; products of other sources are only proposed as links" : ""}.
        </Told>
        {preview.warnings
          .filter((one) => one.code === "SOURCE_SHARED")
          .map((one) => (
            <Told key={one.code} icon={CircleX} tone="text-error">
              {one.message}
            </Told>
          ))}
        <Told icon={Unplug} tone="text-ink-3">
          No provider is called, so there are no fees.
        </Told>
        <Told icon={Clock} tone="text-ink-3">
          It takes {timeTaken(preview.rowsEstimated, rate)}
          {!recent.isPending && <span className="text-ink-2"> ({rateTold(rate)})</span>}
          {workers === 0 && <strong className="text-error"> once a worker runs: there is none now</strong>}.
        </Told>
      </ul>
      {!exact && (
        <p className="mt-2 text-xs text-ink-3">Estimated from the first {preview.rows.length} rows.</p>
      )}
    </section>
  );
}

/** The same figures of a check of all rows. */
function wholeFile(job: FullJob): Looked {
  const summary = job.summary as unknown as Record<string, number>;
  const total = job.counters.total;
  return {
    total,
    shown: total,
    exact: true,
    valid: summary.valid ?? 0,
    invalid: summary.invalid ?? 0,
    warned: warningsOf(job).reduce((sum, one) => sum + one.count, 0),
    discarded: rowsLeftOut(job),
    new: summary.new ?? 0,
    changed: summary.changed ?? 0,
    unchanged: summary.unchanged ?? 0,
    held: summary.held ?? 0,
    duplicates: summary.duplicates ?? 0,
    missing: missingOf(job)?.count,
    counted: true,
  };
}

function Told({ icon: Icon, tone, children }: { icon: LucideIcon; tone: string; children: React.ReactNode }) {
  return (
    <li className="flex items-start gap-2">
      <Icon className={cn("mt-0.5 size-4 shrink-0", tone)} aria-hidden />
      <span className="min-w-0">{children}</span>
    </li>
  );
}
