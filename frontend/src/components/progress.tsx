import type { Schemas } from "../lib/api";
import { cn } from "../lib/cn";
import { count } from "../lib/format";
import { COUNTER_OF, ITEM_LOOKS, TONE_FILL } from "../lib/states";

const ORDER = ["DONE", "NOT_FOUND", "ERROR", "SKIPPED", "PROCESSING"] as const;

/** How a job's rows stand, in the colours of their states; what waits is the rest. */
export function CountersBar({ counters, className }: { counters: Schemas["Counters"]; className?: string }) {
  const total = Math.max(1, counters.total);
  const told = ORDER.filter((status) => counters[COUNTER_OF[status]] > 0)
    .map((status) => `${count(counters[COUNTER_OF[status]])} ${ITEM_LOOKS[status].word.toLowerCase()}`)
    .join(", ");
  return (
    <div
      role="img"
      aria-label={told ? `${told} of ${count(counters.total)}` : "No rows finished yet"}
      title={told}
      className={cn("flex h-1.5 w-full gap-px overflow-hidden rounded-full bg-line", className)}
    >
      {ORDER.map((status) => {
        const value = counters[COUNTER_OF[status]];
        if (value === 0) return null;
        return (
          <div
            key={status}
            className={cn(
              "h-full min-w-0.5 transition-[width] duration-300",
              TONE_FILL[ITEM_LOOKS[status].tone],
            )}
            style={{ width: `${(100 * value) / total}%` }}
          />
        );
      })}
    </div>
  );
}

export function ProgressBar({
  value,
  label,
  className,
}: {
  value: number | null;
  label: string;
  className?: string;
}) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value === null ? undefined : Math.round(value)}
      className={cn("h-1.5 w-full overflow-hidden rounded-full bg-line", className)}
    >
      <div
        className={cn(
          "h-full rounded-full bg-accent transition-[width] duration-300",
          value === null && "w-1/3 animate-pulse",
        )}
        style={value === null ? undefined : { width: `${value}%` }}
      />
    </div>
  );
}
