import {
  CircleCheck,
  CircleHelp,
  CirclePause,
  CircleSlash,
  CircleX,
  Copy as CopyIcon,
  CornerDownRight,
  Equal,
  type LucideIcon,
  Pencil,
  Plus,
} from "lucide-react";
import { useMemo, useState } from "react";
import { Choice } from "../../components/choice";
import { EmptyState } from "../../components/empty";
import { Badge } from "../../components/status";
import type { Preview } from "../../lib/api";
import { cn } from "../../lib/cn";
import { codeLabel } from "../../lib/codes";
import { cellText, count } from "../../lib/format";
import { label } from "../../lib/labels";
import type { Tone } from "../../lib/states";
import { Changes } from "../job/changes";
import { ColumnFigures } from "./column-figures";
import { AllLinks, linksOf, RowLinks, useWizardLinks } from "./decide-links";
import type { Draft } from "./draft";
import { EarlierSource } from "./known-source";

type Row = Preview["rows"][number];
type Show = "all" | "errors" | "warnings" | "duplicates" | "changes" | "held" | "linked";
interface Problem {
  column?: string;
  value?: string;
  code: string;
  message: string;
  severity?: string;
  target?: string;
}

const VERDICTS: Record<Row["verdict"], [Tone, string, LucideIcon]> = {
  valid: ["done", "Valid", CircleCheck],
  invalid: ["error", "Invalid", CircleX],
  discarded: ["skipped", "Left out", CircleSlash],
  unknown: ["pending", "Unknown", CircleHelp],
};
const MATCHES: Record<string, [Tone, string, LucideIcon]> = {
  new: ["processing", "New", Plus],
  changed: ["not-found", "Changes", Pencil],
  unchanged: ["skipped", "Unchanged", Equal],
  duplicate: ["paused", "Duplicate", CopyIcon],
  part: ["skipped", "Part", CornerDownRight],
  held: ["paused", "Held back", CirclePause],
};

/** The first rows as they would come out: bad cells with the reason, duplicates, and the difference to the catalog. */
export function DryRun({
  preview,
  isWholeChecked,
  draft,
  change,
}: {
  preview: Preview;
  isWholeChecked: boolean;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}) {
  const [show, setShow] = useState<Show>("all");
  const links = useWizardLinks(draft, change);
  const summary = preview.summary as Record<string, number>;
  const rows = useMemo(() => {
    const found = preview.rows.filter((row) => fits(row, show));
    return show === "held" ? found.sort((a, b) => sizeOfChange(b) - sizeOfChange(a)) : found;
  }, [preview.rows, show]);
  const hasLines = preview.rows.some((row) => row.line !== null);
  const many = (one: Show) => preview.rows.filter((row) => fits(row, one)).length;
  const figures: [string, number | undefined][] = [
    ["Valid", summary.valid],
    ["With warnings", many("warnings")],
    ["Invalid", summary.invalid],
    ["New", summary.new],
    ["Changed", summary.changed],
    ["Unchanged", summary.unchanged],
    ["Duplicates", summary.duplicate],
    ...(summary.held ? ([["Held back", summary.held]] as [string, number][]) : []),
    ...(summary.linked ? ([["With links", summary.linked]] as [string, number][]) : []),
    ...(summary.part ? ([["Parts of other rows", summary.part]] as [string, number][]) : []),
    ...(summary.discarded ? ([["Left out", summary.discarded]] as [string, number][]) : []),
  ];
  return (
    <div className="space-y-4">
      <p className="text-sm text-ink-2">
        The first {count(preview.rows.length)} of{" "}
        {preview.rowsEstimated > preview.rowsSampled ? "about " : ""}
        {count(preview.rowsEstimated)} rows, checked on the server. Nothing is written.
      </p>
      <EarlierSource preview={preview} change={change} />
      {!isWholeChecked && (
        <dl className="grid grid-cols-[repeat(auto-fill,minmax(7rem,1fr))] gap-2">
          {figures.map(([label, value]) => (
            <div key={label} className="rounded-md border bg-surface px-3 py-1.5">
              <dt className="text-xs text-ink-2">{label}</dt>
              <dd className="text-lg leading-6 font-semibold">{count(value ?? 0)}</dd>
            </div>
          ))}
        </dl>
      )}
      {!isWholeChecked && (
        <ColumnFigures
          figures={preview.columnFigures}
          note={
            preview.rowsEstimated > preview.rows.length
              ? `of the first ${count(preview.rows.length)} rows`
              : ""
          }
        />
      )}
      <Choice
        label="Rows to show"
        value={show}
        onChange={setShow}
        options={[
          { value: "all", label: "All" },
          { value: "errors", label: `Errors ${many("errors")}` },
          { value: "warnings", label: `Warnings ${many("warnings")}` },
          { value: "duplicates", label: `Duplicates ${summary.duplicate ?? 0}` },
          { value: "changes", label: `Changes ${summary.changed ?? 0}` },
          ...(summary.held ? [{ value: "held" as const, label: `Held back ${summary.held}` }] : []),
          ...(summary.linked ? [{ value: "linked" as const, label: `Links ${summary.linked}` }] : []),
        ]}
      />
      {show === "linked" && <AllLinks all={rows.flatMap(linksOf)} links={links} />}
      {rows.length === 0 ? (
        <div className="rounded-lg border bg-surface">
          <EmptyState
            icon={CircleCheck}
            title={show === "changes" ? "No product in the catalog would change" : "No such rows"}
          />
        </div>
      ) : (
        <div
          className="max-h-[60dvh] overflow-auto rounded-lg border bg-surface"
          tabIndex={0}
          role="region"
          aria-label="Rows as they would be imported"
        >
          <table className="w-full text-left text-sm">
            <thead className="sticky top-0 z-10">
              <tr className="h-8 bg-sunken text-xs text-ink-2 shadow-[inset_0_-1px_var(--line)] [&>th]:px-3 [&>th]:font-medium [&>th]:whitespace-nowrap">
                <th className="text-right">Row</th>
                {hasLines && <th className="text-right">Line</th>}
                <th>Verdict</th>
                <th>Catalog</th>
                {preview.columns
                  .filter((name) => name !== "match")
                  .map((name) => (
                    <th key={name}>{label(name)}</th>
                  ))}
              </tr>
            </thead>
            <tbody className="divide-y">
              {rows.map((row) => (
                <PreviewRow
                  key={row.rowNo}
                  row={row}
                  columns={preview.columns}
                  hasLines={hasLines}
                  told={show === "warnings" ? problemsOf(row) : problemsOf(row).filter(isError)}
                  links={links}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function fits(row: Row, show: Show): boolean {
  if (show === "errors") return problemsOf(row).some(isError);
  if (show === "warnings") return problemsOf(row).some((one) => one.severity === "warning");
  if (show === "duplicates") return row.match === "duplicate";
  if (show === "changes") return row.match === "changed";
  if (show === "held") return row.match === "held";
  if (show === "linked") return row.links.length > 0;
  return true;
}

/** A tenth of a price is as large a change as ten times the price; a GTIN comes first. */
function sizeOfChange(row: Row): number {
  const ratio = Number(row.held?.after) / Number(row.held?.before);
  return row.held?.field === "price.amount" && ratio > 0 ? Math.abs(Math.log(ratio)) : Number.MAX_VALUE;
}

function isError(one: Problem): boolean {
  return one.severity !== "warning";
}

function problemsOf(row: Row): Problem[] {
  return row.problems as unknown as Problem[];
}

interface RowProps {
  row: Row;
  columns: string[];
  hasLines: boolean;
  /** The problems to list below the row; all of them colour their cells. */
  told: Problem[];
  links: ReturnType<typeof useWizardLinks>;
}

function PreviewRow({ row, columns, hasLines, told, links }: RowProps) {
  const problems = problemsOf(row);
  const [tone, word, Icon] = VERDICTS[row.verdict];
  const match = row.match ? MATCHES[row.match] : undefined;
  const MatchIcon = match?.[2];
  const cells = columns.filter((name) => name !== "match");
  const more = told.length > 0 || row.changes.length > 0 || row.held !== null || row.links.length > 0;
  const marked = new Map(problems.map((one) => [shortName(one.target ?? ""), one]));
  return (
    <>
      <tr className={cn("h-9 [&>td]:px-3", more && "border-b-0")}>
        <td className="text-right font-mono text-xs text-ink-2">{count(row.rowNo)}</td>
        {hasLines && (
          <td className="text-right font-mono text-xs text-ink-2">
            {row.line === null ? "" : count(row.line)}
          </td>
        )}
        <td>
          <Badge tone={tone}>
            <Icon className="size-3" aria-hidden /> {word}
          </Badge>
        </td>
        <td>
          {match && (
            <Badge tone={match[0]}>
              {MatchIcon && <MatchIcon className="size-3" aria-hidden />}
              {match[1]}
              {(row.duplicateOf ?? row.partOf) ? ` of ${count(row.duplicateOf ?? row.partOf ?? 0)}` : ""}
            </Badge>
          )}
        </td>
        {cells.map((name) => {
          const problem = marked.get(name);
          const given = problem ? cellText(problem.value) : "";
          const read = cellText(row.result?.[name]);
          // What could not be read is shown as it is in the file.
          const value = problem && isError(problem) ? given || read : read || given;
          return (
            <td
              key={name}
              title={problem ? problem.message : value}
              className={cn(
                "max-w-60 truncate",
                problem && (problem.severity === "warning" ? "text-not-found" : "bg-error-bg text-error"),
              )}
            >
              {value}
            </td>
          );
        })}
      </tr>
      {more && (
        <tr>
          <td colSpan={hasLines ? 2 : 1} />
          <td colSpan={Math.min(8, cells.length + 2)} className="px-3 pb-2">
            <ul className="space-y-0.5 text-xs">
              {told.map((one, place) => (
                <li key={place} className={one.severity === "warning" ? "text-not-found" : "text-error"}>
                  <span title={one.code}>{codeLabel(one.code)}</span>
                  {one.column && <strong> · {one.column}</strong>}: {one.message}
                </li>
              ))}
            </ul>
            {row.held && (
              <p className="text-xs text-paused">
                Held back until you accept it: {String(row.held.message)}.
              </p>
            )}
            {row.changes.length > 0 && <Changes changes={row.changes as never} />}
            {row.links.length > 0 && <RowLinks of={linksOf(row)} links={links} />}
          </td>
        </tr>
      )}
    </>
  );
}

/** A field's path as the grid names its column. */
function shortName(target: string): string {
  const known: Record<string, string> = {
    "price.amount": "price",
    "availability.status": "availability",
    "specifications.dimensions": "length",
    "specifications.pack": "packCount",
  };
  return known[target] ?? target.split(".").at(-1) ?? target;
}
