import { CircleCheck } from "lucide-react";
import { EmptyState } from "../../components/empty";
import type { FullJob } from "../../lib/api";
import { CodeChips } from "./code-chips";
import { Rows } from "./rows";
import { UnreadValues } from "./unread-values";

interface Warning {
  code: string;
  count: number;
  message: string;
}

/** The warnings of a finished job by code; they are counted when it ends. */
export function warningsOf(job: FullJob): Warning[] {
  const problems = (job.summary as { problems?: (Warning & { severity?: string })[] } | null)?.problems ?? [];
  return problems.filter((one) => one.severity === "warning");
}

interface Props {
  job: FullJob;
  warnings: Warning[];
  problem: string | undefined;
  q: string | undefined;
  row: number | undefined;
}

/** Rows that were accepted with a cell left empty or read with doubt. */
export function Warnings({ job, warnings, problem, q, row }: Props) {
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      <CodeChips
        job={job}
        label="Warnings by code"
        codes={warnings.map((one) => ({
          code: one.code,
          many: one.count,
          title: one.message,
          tone: "warning",
        }))}
        chosen={problem}
        search={(code) => ({ problem: code })}
      />
      <UnreadValues job={job} />
      <Rows
        job={job}
        filter={{ statuses: [], problem: problem ?? "*", q }}
        row={row}
        view="input"
        empty={
          <EmptyState icon={CircleCheck} title="No warnings">
            Rows with values that could not be read, or were read with doubt, are listed here.
          </EmptyState>
        }
      />
    </div>
  );
}
