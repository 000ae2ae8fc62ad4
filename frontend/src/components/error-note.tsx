import { CircleX, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { adviceFor } from "../lib/advice";
import { ApiProblem } from "../lib/api";
import { cn } from "../lib/cn";
import { Button } from "./button";

interface Props {
  error: unknown;
  onRetry?: () => void;
  /** A button that leads to the solution. */
  action?: ReactNode;
  className?: string;
}

/** What went wrong, and what to do, where it went wrong; it stays until it is solved. */
export function ErrorNote({ error, onRetry, action, className }: Props) {
  const problem = error instanceof ApiProblem ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div
      role="alert"
      className={cn(
        "flex gap-3 rounded-md border border-error/30 bg-error-bg px-3 py-2.5 text-sm text-error",
        className,
      )}
    >
      <CircleX className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1 space-y-0.5">
        <p className="font-medium break-words">{message}</p>
        <p>{adviceFor(error)}</p>
        {problem && problem.status > 0 && (
          <p className="font-mono text-xs break-all">
            {problem.code}
            {problem.requestId && ` · request ${problem.requestId}`}
          </p>
        )}
      </div>
      {action}
      {onRetry && (
        <Button size="sm" onClick={onRetry}>
          <RotateCw aria-hidden /> Try again
        </Button>
      )}
    </div>
  );
}
