import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";

/** The open letters of one group, newest first. */
export function GroupLetters({ signature, onOpen }: { signature: string; onOpen: (id: string) => void }) {
  const letters = useInfiniteQuery({
    queryKey: ["letters", "of", signature],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/dead-letters", {
          params: { query: { signature, state: ["open"], pageSize: 20, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = letters.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="mt-2 ml-5">
      {letters.error && <ErrorNote error={letters.error} onRetry={() => void letters.refetch()} />}
      <ul className="divide-y rounded-md border bg-surface">
        {rows.map((letter) => (
          <li key={letter.id}>
            <button
              type="button"
              onClick={() => onOpen(letter.id)}
              className="flex min-h-8 w-full items-center gap-3 px-3 py-1 text-left hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate font-medium">
                {letter.name}
                {letter.rowNo !== null && <span className="text-ink-3"> · row {letter.rowNo}</span>}
              </span>
              <span className="text-xs whitespace-nowrap text-ink-2">
                {letter.attempts} {letter.attempts === 1 ? "try" : "tries"} ·{" "}
                <Time at={letter.lastFailedAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {letters.hasNextPage && (
        <Button
          size="sm"
          look="quiet"
          className="mt-1"
          busy={letters.isFetchingNextPage}
          onClick={() => void letters.fetchNextPage()}
        >
          Load older
        </Button>
      )}
    </div>
  );
}
