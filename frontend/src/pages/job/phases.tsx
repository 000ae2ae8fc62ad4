import { useQuery } from "@tanstack/react-query";
import { Check, LoaderCircle } from "lucide-react";
import type { FullJob } from "../../lib/api";
import { cn } from "../../lib/cn";
import { count } from "../../lib/format";
import { kindsQuery } from "../../lib/shops";
import { isLive } from "../../lib/states";
import { PHASE_WORDS, phaseSteps } from "./phase-steps";

/** The phases of an import, with what is open in each: several are worked on at once. */
export function Phases({ job }: { job: FullJob }) {
  const kinds = useQuery({ ...kindsQuery, enabled: job.provider !== null });
  const provider = kinds.data?.items.find((one) => one.key === job.provider)?.title ?? job.provider;
  const steps = phaseSteps(job.phase, job.phases, isLive(job.state));
  if (steps.length === 0) return null;
  return (
    <div className="mb-4">
      <ol aria-label="Phases of the import" className="flex flex-wrap gap-1.5">
        {steps.map((step) => (
          <li
            key={step.phase}
            aria-current={step.now ? "step" : undefined}
            className={cn(
              "inline-flex items-center gap-1.5 rounded-md border px-2 py-1 text-xs",
              step.now && "border-processing/40 bg-processing-bg font-medium text-processing",
              !step.now && step.done && "border-done/25 text-done",
              !step.now && !step.done && "text-ink-2",
            )}
          >
            {step.now && <LoaderCircle className="size-3 animate-spin [animation-duration:2s]" aria-hidden />}
            {!step.now && step.done && <Check className="size-3" aria-hidden />}
            {PHASE_WORDS[step.phase] ?? step.phase}
            {step.open > 0 && <span className="tabular-nums">{count(step.open)}</span>}
          </li>
        ))}
      </ol>
      {job.totalProducts !== null && (
        <p className="mt-1.5 text-sm text-ink-2">
          {count(job.totalProducts)} {job.totalProducts === 1 ? "product" : "products"}
          {provider ? ` from ${provider}` : ""}; rows are pages, products and images.
        </p>
      )}
    </div>
  );
}
