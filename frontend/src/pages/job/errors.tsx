import { CircleCheck } from "lucide-react";
import { EmptyState } from "../../components/empty";
import type { FullJob } from "../../lib/api";
import { CodeChips } from "./code-chips";
import { Rows } from "./rows";
import { UnreadValues } from "./unread-values";

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
      <CodeChips
        job={job}
        label="Errors by code"
        tone="error"
        codes={codes.map(([one, many]) => ({ code: one, many }))}
        chosen={code}
        search={(one) => ({ code: one })}
      />
      <UnreadValues job={job} />
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
