import { Link } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import { EmptyState } from "../../components/empty";
import type { FullJob } from "../../lib/api";
import { cn } from "../../lib/cn";
import { count } from "../../lib/format";
import { Rows } from "./rows";

interface Props {
  job: FullJob;
  code: string | undefined;
  q: string | undefined;
  row: number | undefined;
}

/** What went wrong, by its code; then the rows, in the supplier's own columns, to be corrected. */
export function Errors({ job, code, q, row }: Props) {
  const codes = Object.entries(job.errors).sort((a, b) => b[1] - a[1]);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      {codes.length > 0 && (
        <ul
          className="flex gap-2 max-sm:-m-1 max-sm:overflow-x-auto max-sm:p-1 sm:flex-wrap"
          aria-label="Errors by code"
        >
          {codes.map(([one, many]) => (
            <li key={one} className="shrink-0">
              <Link
                to="/jobs/$jobId"
                params={{ jobId: job.id }}
                search={(now) => ({ ...now, code: code === one ? undefined : one })}
                replace
                aria-current={code === one ? "true" : undefined}
                className={cn(
                  "flex items-center gap-2 rounded-md border border-error/30 bg-surface px-3 py-1 hover:bg-hover",
                  code === one && "bg-error-bg outline-2 outline-accent",
                )}
              >
                <span className="font-mono text-xs">{one}</span>
                <span className="text-sm font-semibold text-error">{count(many)}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      <Rows
        job={job}
        filter={code ? { statuses: [], code, q } : { statuses: ["ERROR", "NOT_FOUND"], q }}
        row={row}
        view="input"
        empty={
          <EmptyState icon={CircleCheck} title="No failed rows">
            Failed rows are listed here with the reason, and can be corrected in place.
          </EmptyState>
        }
      />
    </div>
  );
}
