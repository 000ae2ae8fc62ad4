import { CircleCheck, CircleX, Loader } from "lucide-react";
import { Card } from "../../components/page";
import { ProgressBar } from "../../components/progress";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { count } from "../../lib/format";
import type { SourceState, SourceSummary } from "../../lib/research";

interface Props {
  states: Record<string, SourceState>;
  summaries: Record<string, SourceSummary> | null;
}

/** How far each source is; once the request has ended, what it found, cost, or why it failed. */
export function SourceTable({ states, summaries }: Props) {
  const names = Object.keys(summaries ?? states).sort();
  if (names.length === 0) return null;
  return (
    <Card className="overflow-hidden">
      <Table
        label="Sources of this request"
        head={[
          { label: "Source" },
          { label: "State" },
          { label: "Found", className: "text-right" },
          { label: "Kept", className: "text-right" },
          { label: "Slowest answer", className: "text-right" },
          { label: "Cost", className: "text-right" },
        ]}
      >
        {names.map((name) => {
          const ended = summaries?.[name];
          return ended ? (
            <EndedRow key={name} name={name} told={ended} />
          ) : (
            <RunningRow key={name} name={name} state={states[name]} />
          );
        })}
      </Table>
    </Card>
  );
}

function EndedRow({ name, told }: { name: string; told: SourceSummary }) {
  const left = Object.entries(told.leftOut).map(([why, many]) => `${many} by ${why}`);
  return (
    <tr>
      <td className="font-medium">{name}</td>
      <td className="max-w-80">
        {told.failed ? (
          <>
            <Badge tone="error">
              <CircleX className="size-3" aria-hidden /> Failed
            </Badge>
            <div className="text-xs break-words text-error">
              {told.failed.message} <span className="font-mono">{told.failed.code}</span>
            </div>
          </>
        ) : (
          <Badge tone="done">
            <CircleCheck className="size-3" aria-hidden /> {told.reused ? "Answered earlier" : "Answered"}
          </Badge>
        )}
      </td>
      <td className="text-right tabular-nums">{count(told.found)}</td>
      <td className="text-right tabular-nums">
        {count(told.kept)}
        {left.length > 0 && <div className="text-xs text-ink-3">left out: {left.join(", ")}</div>}
      </td>
      <td className="text-right tabular-nums">{told.calls > 0 ? `${count(told.latencyMs)} ms` : "–"}</td>
      <td className="text-right tabular-nums">
        {told.cost.length > 0 ? told.cost.map((one) => `${one.amount} ${one.currency}`).join(", ") : "–"}
      </td>
    </tr>
  );
}

function RunningRow({ name, state }: { name: string; state: SourceState | undefined }) {
  return (
    <tr>
      <td className="font-medium">{name}</td>
      <td className="min-w-48">
        <div className="flex items-center gap-2 text-xs text-ink-2">
          <Loader className="size-3 animate-spin" aria-hidden /> {state?.message ?? "Waiting"}
        </div>
        <ProgressBar value={state?.progress ?? 0} label={`Progress of ${name}`} className="mt-1" />
      </td>
      <td colSpan={4} />
    </tr>
  );
}
