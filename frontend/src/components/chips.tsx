import { Ban } from "lucide-react";
import { cn } from "../lib/cn";
import { type Chosen, cycle } from "../lib/filters";
import type { Look } from "../lib/states";

interface Props<T extends string> {
  known: readonly T[];
  looks: Record<T, Look>;
  chosen: Chosen<T>;
  onChange: (chosen: Chosen<T>) => void;
  label: string;
}

/** A click takes only these, a second leaves them out, a third forgets the filter. */
export function FilterChips<T extends string>({ known, looks, chosen, onChange, label }: Props<T>) {
  return (
    <div
      role="group"
      aria-label={label}
      className="flex min-w-0 gap-1.5 max-sm:-m-1 max-sm:overflow-x-auto max-sm:p-1 sm:flex-wrap"
    >
      {known.map((one) => {
        const only = chosen.only.includes(one);
        const not = chosen.not.includes(one);
        const Icon = not ? Ban : looks[one].icon;
        return (
          <button
            key={one}
            type="button"
            aria-pressed={only || not}
            title={
              only ? "Click again to exclude these" : not ? "Click to clear this filter" : "Show only these"
            }
            onClick={() => onChange(cycle(chosen, one))}
            className={cn(
              "inline-flex h-6 shrink-0 items-center gap-1 rounded-full border border-line-strong px-2.5 text-xs text-ink-2 hover:bg-hover",
              only && "border-accent bg-accent-soft font-medium text-accent",
              not && "border-error/40 bg-error-bg text-error",
            )}
          >
            <Icon className="size-3" aria-hidden />
            {not && <span className="sr-only">not </span>}
            <span className={cn(not && "line-through")}>{looks[one].word}</span>
          </button>
        );
      })}
    </div>
  );
}
