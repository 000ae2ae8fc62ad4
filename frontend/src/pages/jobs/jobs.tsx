import { keepPreviousData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FilterX, Inbox, Plus, Search } from "lucide-react";
import { type FormEvent, useCallback, useState } from "react";
import { Button } from "../../components/button";
import { FilterChips } from "../../components/chips";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Input } from "../../components/field";
import { Card, Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { client, ok } from "../../lib/api";
import { chosenText, parseChosen, wanted } from "../../lib/filters";
import { useChanges } from "../../lib/live";
import { useCanWrite } from "../../lib/session";
import { JOB_LOOKS } from "../../lib/states";
import { BulkMenu } from "./bulk";
import { JobsTable } from "./table";

const STATES = [
  "running",
  "queued",
  "delayed",
  "paused",
  "cancelling",
  "done",
  "failed",
  "cancelled",
] as const;

export default function Jobs() {
  const search = useSearch({ from: "/inside/jobs" });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const chosen = parseChosen(search.state, STATES);
  const states = wanted(chosen, STATES);
  const jobs = useInfiniteQuery({
    queryKey: ["jobs", "list", states, search.pipeline ?? "", search.q ?? ""],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/jobs", {
          params: {
            query: {
              state: states,
              pipeline: search.pipeline ?? "",
              q: search.q ?? "",
              after: pageParam,
              pageSize: 50,
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  useChanges(useCallback(() => void queries.invalidateQueries({ queryKey: ["jobs"] }), [queries]));

  const rows = jobs.data?.pages.flatMap((page) => page.items) ?? [];
  const filtered = states.length > 0 || !!search.pipeline || !!search.q;
  return (
    <Page
      title="Jobs"
      lead="All jobs and the state of their rows."
      actions={
        canWrite && (
          <Button asChild look="primary" className="md:hidden">
            <Link to="/new">
              <Plus aria-hidden /> New job
            </Link>
          </Button>
        )
      }
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        {(filtered || rows.length > 0) && (
          <FilterChips
            known={STATES}
            looks={JOB_LOOKS}
            chosen={chosen}
            label="Filter by state"
            onChange={(next) =>
              void navigate({ to: "/jobs", search: { ...search, state: chosenText(next) }, replace: true })
            }
          />
        )}
        {filtered && (
          <Button size="sm" look="quiet" onClick={() => void navigate({ to: "/jobs", search: {} })}>
            <FilterX aria-hidden /> All jobs
          </Button>
        )}
        <div className="flex-1" />
        {(filtered || rows.length > 0) && (
          <SearchNames
            key={search.q ?? ""}
            q={search.q ?? ""}
            onChange={(q) =>
              void navigate({ to: "/jobs", search: { ...search, q: q || undefined }, replace: true })
            }
          />
        )}
        {canWrite && rows.length > 0 && (
          <BulkMenu states={states} pipeline={search.pipeline} name={search.q} />
        )}
      </div>
      {jobs.error && <ErrorNote error={jobs.error} onRetry={() => void jobs.refetch()} className="mb-3" />}
      <Card className="overflow-hidden">
        {rows.length > 0 ? (
          <JobsTable jobs={rows} />
        ) : jobs.isPending ? (
          <RowsSkeleton />
        ) : filtered ? (
          <EmptyState
            icon={FilterX}
            title="No job matches these filters"
            action={<Button onClick={() => void navigate({ to: "/jobs", search: {} })}>Show all jobs</Button>}
          />
        ) : (
          !jobs.error && <NoneYet canWrite={canWrite} />
        )}
      </Card>
      {jobs.hasNextPage && (
        <div className="mt-3 flex justify-center">
          <Button busy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
            Older jobs
          </Button>
        </div>
      )}
    </Page>
  );
}

function SearchNames({ q, onChange }: { q: string; onChange: (q: string) => void }) {
  const [typed, setTyped] = useState(q);
  const send = (event: FormEvent) => {
    event.preventDefault();
    onChange(typed.trim());
  };
  return (
    <form role="search" onSubmit={send} className="relative w-full sm:w-40">
      <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-ink-3" aria-hidden />
      <Input
        type="search"
        aria-label="Search jobs by name"
        placeholder="Name"
        className="pl-8"
        maxLength={200}
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          // The browser's own cross empties it, and means it.
          if (event.target.value === "" && q) onChange("");
        }}
      />
    </form>
  );
}

function NoneYet({ canWrite }: { canWrite: boolean }) {
  if (!canWrite) {
    return (
      <EmptyState icon={Inbox} title="No jobs yet">
        Your organisation has no jobs yet.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={Inbox}
      title="No jobs yet"
      action={
        <>
          <Button asChild look="primary">
            <Link to="/new">
              <Plus aria-hidden /> Upload a file
            </Link>
          </Button>
          <Button asChild>
            <Link to="/new" search={{ sample: true }}>
              Try it with a sample file
            </Link>
          </Button>
        </>
      }
    >
      Upload a supplier file as it is: any encoding, delimiter or workbook. You see how each column is mapped
      and what is wrong before anything is written.
    </EmptyState>
  );
}
