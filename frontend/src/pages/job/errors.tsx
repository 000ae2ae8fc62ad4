import { CircleCheck } from "lucide-react";
import { EmptyState } from "../../components/empty";
import type { FullJob } from "../../lib/api";
import { isSkip } from "../../lib/codes";
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
  // What was skipped comes last: nothing is wrong with it, or a person decides.
  const codes = Object.entries(job.errors)
    .map(([one, many]) => ({
      code: one,
      many,
      tone: isSkip(one) ? ("skipped" as const) : ("error" as const),
    }))
    .sort((a, b) => Number(isSkip(a.code)) - Number(isSkip(b.code)) || b.many - a.many);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      <CodeChips
        job={job}
        label="Errors and skipped rows by code"
        codes={codes}
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
