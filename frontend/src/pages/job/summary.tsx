import { Link } from "@tanstack/react-router";
import { ChartColumn } from "lucide-react";
import { EmptyState } from "../../components/empty";
import { Card } from "../../components/page";
import { CountersBar } from "../../components/progress";
import { Time } from "../../components/time";
import type { FullJob } from "../../lib/api";
import { codeLabel } from "../../lib/codes";
import { bytes, cellText, count, share } from "../../lib/format";
import { fieldLabel, label } from "../../lib/labels";
import { duration } from "../../lib/time";
import { rowsLeftOut } from "./left-out";
import { Missing, missingOf } from "./missing";
import { Timeline } from "./timeline";

interface ColumnSummary {
  column: string;
  target: string | null;
  fill: number;
  problems: { code: string; count: number; message: string; example?: { rowNo: number; value: string } }[];
}

const FIGURES: [name: string, label: string][] = [
  ["total", "Rows"],
  ["found", "Found"],
  ["ambiguous", "Ambiguous"],
  ["notFound", "Not found"],
  ["proposed", "Open proposals"],
  ["enriched", "Accepted"],
  ["refused", "Refused"],
  ["valid", "Valid"],
  ["invalid", "Invalid"],
  ["new", "New products"],
  ["changed", "Changed"],
  ["unchanged", "Unchanged"],
  ["duplicates", "Duplicates in the file"],
  ["held", "Held back"],
  ["linked", "With links to other sources"],
];

export function Summary({ job }: { job: FullJob }) {
  const summary = job.summary as Record<string, unknown> | null;
  const missing = missingOf(job);
  const columns = (summary?.columns ?? []) as ColumnSummary[];
  const figures: [string, unknown][] = FIGURES.map(([name, label]) => [label, summary?.[name]]);
  if (summary) figures.push(["Left out", rowsLeftOut(job) || undefined]);
  return (
    <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
      <div className="min-w-0 space-y-4">
        {summary ? (
          <Card className="p-4">
            <h2 className="mb-3 text-base font-semibold">Results</h2>
            <dl className="grid grid-cols-2 gap-3 sm:grid-cols-4">
              {figures.map(([label, value]) =>
                typeof value === "number" ? (
                  <div key={label}>
                    <dt className="text-xs text-ink-2">{label}</dt>
                    <dd className="text-lg font-semibold">{count(value)}</dd>
                  </div>
                ) : null,
              )}
            </dl>
            <CountersBar counters={job.counters} className="mt-4 h-2.5" />
          </Card>
        ) : (
          <Card>
            <EmptyState icon={ChartColumn} title="The summary appears when the job ends">
              The counters above are always exact.
            </EmptyState>
          </Card>
        )}
        <Timeline job={job} />
        {missing && <Missing missing={missing} />}
        {columns.length > 0 && <Columns columns={columns} jobId={job.id} />}
      </div>
      <Facts job={job} />
    </div>
  );
}

/** How full each column is, and what was wrong in it. */
function Columns({ columns, jobId }: { columns: ColumnSummary[]; jobId: string }) {
  return (
    <Card className="overflow-hidden">
      <h2 className="px-4 pt-4 pb-2 text-base font-semibold">Columns</h2>
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Columns and their problems">
        <table className="w-full min-w-[520px] text-left text-sm">
          <thead>
            <tr className="border-y bg-sunken text-xs text-ink-2 [&>th]:px-4 [&>th]:py-1.5 [&>th]:font-medium">
              <th>Column</th>
              <th>Fills</th>
              <th className="w-36">Filled</th>
              <th>Problems</th>
            </tr>
          </thead>
          <tbody className="divide-y">
            {columns.map((one) => (
              <tr key={one.column} className="align-top [&>td]:px-4 [&>td]:py-1.5">
                <td className="font-medium">{one.column}</td>
                <td className="text-ink-2">{one.target ? fieldLabel(one.target) : "Custom field"}</td>
                <td>
                  <div className="flex items-center gap-2">
                    <div className="h-1.5 w-16 overflow-hidden rounded-full bg-line" aria-hidden>
                      <div className="h-full bg-accent" style={{ width: `${100 * one.fill}%` }} />
                    </div>
                    <span className="text-xs whitespace-nowrap text-ink-2">{share(one.fill)}</span>
                  </div>
                </td>
                <td>
                  {one.problems.length === 0 && <span className="text-ink-3">none</span>}
                  {one.problems.map((problem) => (
                    <div key={problem.code} title={problem.message}>
                      <span className="font-semibold">{count(problem.count)}</span>{" "}
                      <span title={problem.code}>{codeLabel(problem.code)}</span>{" "}
                      {problem.example && (
                        <Link
                          to="/jobs/$jobId"
                          params={{ jobId }}
                          search={{ row: problem.example.rowNo }}
                          className="plain-link text-xs"
                        >
                          row {count(problem.example.rowNo)}
                        </Link>
                      )}
                      <span className="block text-xs text-ink-2">{problem.message}</span>
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function Facts({ job }: { job: FullJob }) {
  const facts: [string, React.ReactNode][] = [
    ["Pipeline", job.pipeline],
    ["File", job.file ? `${job.file.name}, ${bytes(job.file.size)}` : "none"],
    ["Created", <Time key="c" at={job.createdAt} />],
    ["Started", <Time key="s" at={job.startedAt} />],
    ["Ended", <Time key="e" at={job.finishedAt} />],
    ...(job.undoneAt
      ? ([["Undone", <Time key="u" at={job.undoneAt} />]] as [string, React.ReactNode][])
      : []),
    ...(job.source
      ? ([
          [
            "Source",
            <Link key="q" to="/products" search={{ source: job.source }} className="plain-link">
              {job.source}
            </Link>,
          ],
          ["Profile", <ProfileLink key="p" job={job} />],
        ] as [string, React.ReactNode][])
      : []),
    ["Took", job.progress.elapsedMs ? duration(job.progress.elapsedMs) : "–"],
    ["Priority", String(job.priority)],
    ["Lane", job.lane + (job.lanePaused ? " (paused)" : "")],
    ["Tries", String(job.attempts)],
    [
      "Id",
      <span key="i" className="font-mono text-xs break-all">
        {job.id}
      </span>,
    ],
    ...Object.entries(job.config)
      .filter(([name]) => !job.source || (name !== "source" && name !== "profile"))
      .map(([name, value]): [string, React.ReactNode] => [
        label(name),
        name === "mapping" ? (
          <Mapped key="m" mapping={value as Record<string, string | null>} />
        ) : (
          cellText(value)
        ),
      ]),
  ];
  return (
    <Card className="h-fit p-4">
      <h2 className="mb-2 text-base font-semibold">The job</h2>
      <dl className="divide-y text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="grid grid-cols-[88px_1fr] gap-3 py-1.5">
            <dt className="text-ink-2">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function ProfileLink({ job }: { job: FullJob }) {
  if (!job.profile) return "None; the columns were mapped automatically";
  return (
    <Link
      to="/settings/$part"
      params={{ part: "profiles" }}
      search={{ profile: job.profile.name }}
      className="plain-link"
    >
      {job.profile.name}, version {job.profile.version}
    </Link>
  );
}

/** The fields that were chosen for columns, as a list. */
function Mapped({ mapping }: { mapping: Record<string, string | null> }) {
  return (
    <ul>
      {Object.entries(mapping).map(([column, target]) => (
        <li key={column}>
          {column} → {target === "ignore" ? "left out" : target ? fieldLabel(target) : "custom field"}
        </li>
      ))}
    </ul>
  );
}
