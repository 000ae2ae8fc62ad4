import { Link } from "@tanstack/react-router";
import type { FullJob } from "../../lib/api";
import { cn } from "../../lib/cn";
import { codeLabel } from "../../lib/codes";
import { count } from "../../lib/format";

interface Props {
  job: FullJob;
  label: string;
  codes: { code: string; many: number; title?: string; tone: Tone }[];
  chosen: string | undefined;
  /** The part of the URL that chooses a code; undefined chooses none. */
  search: (code: string | undefined) => { code?: string; problem?: string };
}

type Tone = "error" | "warning" | "skipped";
const BORDERS: Record<Tone, string> = {
  error: "border-error/30",
  warning: "border-not-found/30",
  skipped: "border-line-strong",
};
const CHOSEN: Record<Tone, string> = {
  error: "bg-error-bg",
  warning: "bg-not-found-bg",
  skipped: "bg-hover",
};
const COUNTS: Record<Tone, string> = {
  error: "text-error",
  warning: "text-not-found",
  skipped: "text-ink-2",
};

/** Problem codes with their counts; a click shows the rows of one. */
export function CodeChips({ job, label, codes, chosen, search }: Props) {
  if (codes.length === 0) return null;
  return (
    <ul className="flex gap-2 max-sm:-m-1 max-sm:overflow-x-auto max-sm:p-1 sm:flex-wrap" aria-label={label}>
      {codes.map(({ code, many, title, tone }) => (
        <li key={code} className="shrink-0">
          <Link
            to="/jobs/$jobId"
            params={{ jobId: job.id }}
            search={(now) => ({ ...now, ...search(chosen === code ? undefined : code) })}
            replace
            title={title ? `${code}: ${title}` : code}
            aria-current={chosen === code ? "true" : undefined}
            className={cn(
              "flex items-center gap-2 rounded-md border bg-surface px-3 py-1 hover:bg-hover",
              BORDERS[tone],
              chosen === code && CHOSEN[tone],
              chosen === code && "outline-2 outline-accent",
            )}
          >
            <span className="text-sm">{codeLabel(code)}</span>
            <span className={cn("text-sm font-semibold", COUNTS[tone])}>{count(many)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
