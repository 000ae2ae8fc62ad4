import { type ReactNode, useEffect, useState } from "react";
import { cn } from "../lib/cn";

export function Bone({ className }: { className?: string }) {
  return <div aria-hidden className={cn("shimmer rounded", className)} />;
}

/** What is quick shows no skeleton at all: it would only flash. */
export function AfterAMoment({ children }: { children: ReactNode }) {
  const [due, setDue] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDue(true), 300);
    return () => clearTimeout(timer);
  }, []);
  return due ? (
    <div role="status" aria-label="Loading">
      {children}
    </div>
  ) : null;
}

export function RowsSkeleton({ rows = 8 }: { rows?: number }) {
  return (
    <AfterAMoment>
      <div className="divide-y">
        {Array.from({ length: rows }, (_, row) => (
          <div key={row} className="flex h-9 items-center gap-4 px-4">
            <Bone className="h-3 w-1/4" />
            <Bone className="h-3 w-16" />
            <Bone className="h-3 flex-1" />
            <Bone className="h-3 w-20" />
          </div>
        ))}
      </div>
    </AfterAMoment>
  );
}
