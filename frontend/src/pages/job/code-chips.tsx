import { Link } from "@tanstack/react-router";
import type { FullJob } from "../../lib/api";
import { cn } from "../../lib/cn";
import { count } from "../../lib/format";

interface Props {
  job: FullJob;
  label: string;
  tone: "error" | "warning";
  codes: { code: string; many: number; title?: string }[];
  chosen: string | undefined;
  /** The part of the URL that chooses a code; undefined chooses none. */
  search: (code: string | undefined) => { code?: string; problem?: string };
}

/** Problem codes with their counts; a click shows the rows of one. */
export function CodeChips({ job, label, tone, codes, chosen, search }: Props) {
  if (codes.length === 0) return null;
  const error = tone === "error";
  return (
    <ul className="flex gap-2 max-sm:-m-1 max-sm:overflow-x-auto max-sm:p-1 sm:flex-wrap" aria-label={label}>
      {codes.map(({ code, many, title }) => (
        <li key={code} className="shrink-0">
          <Link
            to="/jobs/$jobId"
            params={{ jobId: job.id }}
            search={(now) => ({ ...now, ...search(chosen === code ? undefined : code) })}
            replace
            title={title}
            aria-current={chosen === code ? "true" : undefined}
            className={cn(
              "flex items-center gap-2 rounded-md border bg-surface px-3 py-1 hover:bg-hover",
              error ? "border-error/30" : "border-not-found/30",
              chosen === code && (error ? "bg-error-bg" : "bg-not-found-bg"),
              chosen === code && "outline-2 outline-accent",
            )}
          >
            <span className="font-mono text-xs">{code}</span>
            <span className={cn("text-sm font-semibold", error ? "text-error" : "text-not-found")}>
              {count(many)}
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
