import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronRight, MailCheck, RotateCw, Trash2 } from "lucide-react";
import { useCallback, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Page } from "../../components/page";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { count } from "../../lib/format";
import { useChanges } from "../../lib/live";
import { useCanWrite } from "../../lib/session";
import { Close, type Closing } from "./close";
import { LetterDrawer } from "./drawer";
import { GroupLetters } from "./group";

export type Group = Schemas["GroupShape"];

/** What failed for good, by what it has in common: judge one, and all of its kind are judged. */
export default function DeadLetters() {
  const search = useSearch({ from: "/inside/dead-letters" });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const [closing, setClosing] = useState<Closing | null>(null);
  const groups = useInfiniteQuery({
    queryKey: ["letters", "groups"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/dead-letters/groups", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const again = useCallback(() => void queries.invalidateQueries({ queryKey: ["letters"] }), [queries]);
  useChanges(
    useCallback(
      (_, events) => {
        if (events.length === 0 || events.some((one) => one.event === "job.dead_lettered")) again();
      },
      [again],
    ),
  );
  const rows = groups.data?.pages.flatMap((page) => page.items) ?? [];
  const show = (next: { group?: string; letter?: string }) =>
    void navigate({ to: "/dead-letters", search: next, replace: true });
  return (
    <Page title="Dead letters" lead="Jobs and deliveries that failed after all retries. Kept for 30 days.">
      <List
        query={groups}
        rows={rows.length}
        empty={
          <EmptyState icon={MailCheck} title="No dead letters">
            A job that fails as a whole is listed here with its error, ready to run again. Failed rows stay
            with their job.
          </EmptyState>
        }
      >
        <Table
          label="Groups of dead letters"
          head={[
            { label: "Error" },
            { label: "Open", className: "hidden text-right sm:table-cell" },
            { label: "First", className: "hidden md:table-cell" },
            { label: "Last", className: "hidden sm:table-cell" },
            { label: <span className="sr-only">Actions</span> },
          ]}
        >
          {rows.map((group) => (
            <tr key={group.signature} className="align-top hover:bg-hover">
              <td className="w-full max-w-0">
                <button
                  type="button"
                  className="flex w-full min-w-0 items-start gap-1.5 text-left"
                  aria-expanded={search.group === group.signature}
                  onClick={() => show(search.group === group.signature ? {} : { group: group.signature })}
                >
                  <ChevronRight
                    aria-hidden
                    className={
                      search.group === group.signature
                        ? "mt-0.5 size-4 shrink-0 rotate-90 text-ink-3"
                        : "mt-0.5 size-4 shrink-0 text-ink-3"
                    }
                  />
                  <span className="min-w-0">
                    <span className="font-mono text-xs break-all text-error">{group.code}</span>{" "}
                    <span className="text-xs text-ink-3">
                      {group.pipeline}
                      <span className="sm:hidden"> · {count(group.count)} open</span>
                    </span>
                    <span className="line-clamp-2 block break-words">{group.message}</span>
                  </span>
                </button>
                {search.group === group.signature && (
                  <GroupLetters
                    signature={group.signature}
                    onOpen={(letter) => show({ group: group.signature, letter })}
                  />
                )}
              </td>
              <td className="hidden text-right font-medium sm:table-cell">{count(group.count)}</td>
              <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
                <Time at={group.firstFailedAt} />
              </td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={group.lastFailedAt} />
              </td>
              <td>
                {canWrite && (
                  <div className="flex justify-end gap-1">
                    <Button
                      size="sm"
                      onClick={() => setClosing({ how: "reprocess", signature: group.signature })}
                    >
                      <RotateCw aria-hidden /> <span className="max-sm:sr-only">Run again</span>
                    </Button>
                    <Button
                      size="icon-sm"
                      look="quiet"
                      aria-label={`Discard all of ${group.code}`}
                      onClick={() => setClosing({ how: "discard", signature: group.signature })}
                    >
                      <Trash2 aria-hidden />
                    </Button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </List>
      {search.letter && (
        <LetterDrawer
          id={search.letter}
          canWrite={canWrite}
          onClose={() => show(search.group ? { group: search.group } : {})}
          onAct={setClosing}
        />
      )}
      {closing && <Close closing={closing} onClose={() => setClosing(null)} onDone={again} />}
    </Page>
  );
}
