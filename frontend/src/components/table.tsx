import { type ReactNode, useEffect, useRef } from "react";
import { cn } from "../lib/cn";
import { Button } from "./button";
import { ErrorNote } from "./error-note";
import { Card } from "./page";
import { RowsSkeleton } from "./skeleton";

export interface Column {
  label: ReactNode;
  className?: string;
}

/** Rows under a head; wide ones scroll inside their card, the page never does. */
export function Table({ label, head, children }: { label: string; head: Column[]; children: ReactNode }) {
  return (
    <div className="overflow-x-auto" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full text-left text-sm">
        <thead>
          <tr className="h-9 border-b bg-sunken text-xs text-ink-2 [&>th]:px-3 [&>th]:font-medium">
            {head.map((column, place) => (
              <th key={place} scope="col" className={column.className}>
                {column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y [&>tr>td]:px-3 [&>tr>td]:py-1.5">{children}</tbody>
      </table>
    </div>
  );
}

export interface Listing {
  isPending: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  fetchNextPage?: () => unknown;
}

/** A list in its card: loading, empty, wrong, or there, with a way to more of it. */
export function List({
  query,
  rows,
  empty,
  more = "Show more",
  className,
  children,
}: {
  query: Listing;
  rows: number;
  empty: ReactNode;
  more?: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <div className={className}>
      {!!query.error && (
        <ErrorNote error={query.error} onRetry={() => void query.refetch()} className="mb-3" />
      )}
      <Card className={cn("overflow-hidden", rows === 0 && !!query.error && "hidden")}>
        {rows > 0 ? children : query.isPending ? <RowsSkeleton /> : empty}
      </Card>
      {query.hasNextPage && <More query={query}>{more}</More>}
    </div>
  );
}

/** The next page is fetched when the end of the list comes near; the button serves keyboards. */
function More({ query, children }: { query: Listing; children: ReactNode }) {
  const end = useRef<HTMLDivElement>(null);
  const next = useRef(() => undefined as unknown);
  next.current = () => !query.isFetchingNextPage && !query.error && query.fetchNextPage?.();
  useEffect(() => {
    const element = end.current;
    if (!element) return;
    const near = new IntersectionObserver(
      (entries) => entries.some((one) => one.isIntersecting) && next.current(),
      { root: document.getElementById("main"), rootMargin: "0px 0px 400px" },
    );
    near.observe(element);
    return () => near.disconnect();
  }, [query.isFetchingNextPage]);
  return (
    <div ref={end} className="mt-3 flex justify-center">
      <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage?.()}>
        {children}
      </Button>
    </div>
  );
}

/** Names and what they stand for, one below the other. */
export function Facts({ facts }: { facts: [ReactNode, ReactNode][] }) {
  return (
    <dl className="divide-y rounded-lg border bg-surface text-sm">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value], place) => (
          <div key={place} className="grid grid-cols-[minmax(96px,1fr)_2.5fr] gap-3 px-3 py-1.5">
            <dt className="text-ink-2">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Json({ value, label }: { value: unknown; label: string }) {
  return (
    <pre
      className="max-h-96 overflow-auto rounded-md border bg-sunken p-3 font-mono text-xs"
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      {typeof value === "string" ? value : JSON.stringify(value, null, 2)}
    </pre>
  );
}
