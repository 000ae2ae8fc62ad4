import { Check } from "lucide-react";
import { cn } from "../../lib/cn";

export const STEPS = [
  { id: "file", label: "File" },
  { id: "reading", label: "Reading" },
  { id: "mapping", label: "Columns" },
  { id: "dryrun", label: "Dry run" },
  { id: "confirm", label: "Start" },
] as const;

export type Step = (typeof STEPS)[number]["id"];

/** Steps that show what rows become; they wait until the file was read with all choices. */
export const SHOWS_ROWS: ReadonlySet<Step> = new Set(["dryrun", "confirm"]);

interface Props {
  step: Step;
  onStep: (step: Step) => void;
  reachable: boolean;
  /** Whether the file is being read again with other choices. */
  stale: boolean;
}

export function Stepper({ step, onStep, reachable, stale }: Props) {
  const at = STEPS.findIndex((one) => one.id === step);
  return (
    <nav aria-label="Steps" className="mb-5">
      <ol className="flex flex-wrap gap-1">
        {STEPS.map((one, place) => (
          <li key={one.id} className="flex items-center">
            <button
              type="button"
              disabled={place > at && (!reachable || (stale && SHOWS_ROWS.has(one.id)))}
              aria-current={one.id === step ? "step" : undefined}
              onClick={() => onStep(one.id)}
              className={cn(
                "flex h-8 items-center gap-2 rounded-md pr-1.5 pl-1.5 sm:pr-3 text-sm text-ink-2 hover:bg-hover disabled:hover:bg-transparent",
                one.id === step && "bg-accent-soft font-medium text-accent",
              )}
            >
              <span
                className={cn(
                  "flex size-5 items-center justify-center rounded-full border border-line-strong text-xs",
                  place < at && "border-accent bg-accent text-accent-ink",
                  place === at && "border-accent",
                )}
              >
                {place < at ? <Check className="size-3" aria-hidden /> : place + 1}
              </span>
              <span className={cn(one.id !== step && "max-sm:sr-only")}>{one.label}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
