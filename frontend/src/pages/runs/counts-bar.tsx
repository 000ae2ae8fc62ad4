import { cn } from "../../lib/cn";
import { count } from "../../lib/format";
import { PAGE_STATES, type RunCounts } from "../../lib/runs";
import { TONE_FILL } from "../../lib/states";

/** How the pages of a run or a company stand, in the colours of their states. */
export function CountsBar({ counts, className }: { counts: RunCounts; className?: string }) {
  const total = PAGE_STATES.reduce((sum, one) => sum + counts[one.name], 0);
  const parts = PAGE_STATES.filter((one) => counts[one.name] > 0);
  const told = parts.map((one) => `${count(counts[one.name])} ${one.word.toLowerCase()}`).join(", ");
  return (
    <div
      role="img"
      aria-label={told || "No pages yet"}
      title={told}
      className={cn("flex h-1.5 w-full min-w-16 gap-px overflow-hidden rounded-full bg-line", className)}
    >
      {parts
        .filter((one) => one.name !== "pending")
        .map((one) => (
          <div
            key={one.name}
            className={cn("h-full min-w-0.5", TONE_FILL[one.tone])}
            style={{ width: `${(100 * counts[one.name]) / total}%` }}
          />
        ))}
    </div>
  );
}
