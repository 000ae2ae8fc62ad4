import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CircleDashed, FilterX } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/button";
import { Choice } from "../../components/choice";
import { EmptyState } from "../../components/empty";
import { Input } from "../../components/field";
import { Page } from "../../components/page";
import { List } from "../../components/table";
import { client, ok, type Schemas } from "../../lib/api";
import { plural } from "../../lib/format";
import { useCanWrite, useSession } from "../../lib/session";
import { duration } from "../../lib/time";
import { type PendingRow, PendingRows } from "./rows";
import { OpenSelection } from "./selected";

type Wanted = "open" | "PENDING" | "PROCESSING";

/** Open rows of all jobs, those that wait longest first. */
export default function Pending() {
  const search = useSearch({ from: "/inside/pending" });
  const navigate = useNavigate();
  const session = useSession();
  const canWrite = useCanWrite();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [all, setAll] = useState(false);
  const [last, setLast] = useState<string | null>(null);
  const admin = session.user.role === "admin";
  const wanted: Wanted =
    search.status === "PENDING" || search.status === "PROCESSING" ? search.status : "open";
  const mine = search.owner !== "all";
  const go = (change: Partial<typeof search>) =>
    void navigate({ to: "/pending", search: { ...search, ...change }, replace: true });
  const filters = {
    ...(search.type ? { jobType: search.type } : {}),
    ...(search.job ? { jobId: search.job } : {}),
    ...(search.from ? { from: `${search.from}T00:00:00Z` } : {}),
    ...(search.to ? { to: `${search.to}T23:59:59Z` } : {}),
  };
  const filtered = wanted !== "open" || Object.keys(filters).length > 0;
  const rows = useInfiniteQuery({
    queryKey: ["pending", wanted, mine, filters],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/pending", {
          params: {
            query: {
              statuses: wanted === "open" ? ["PENDING", "PROCESSING"] : [wanted],
              userId: mine ? "me" : "all",
              ...filters,
              pageSize: 100,
              after: pageParam,
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    // Far down a long list, what was read stays as it was.
    refetchInterval: (query) => ((query.state.data?.pages.length ?? 0) <= 3 ? 5000 : false),
  });
  const filterKey = JSON.stringify([wanted, mine, filters]);
  useEffect(() => {
    setChosen(new Set());
    setAll(false);
  }, [filterKey]);
  const clear = () => {
    setChosen(new Set());
    setAll(false);
  };
  const select = (row: PendingRow, range: boolean) => {
    const next = new Set(all ? [] : chosen);
    const from = items.findIndex((one) => one.id === last);
    const to = items.findIndex((one) => one.id === row.id);
    if (range && from >= 0) {
      for (const one of items.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one.id);
    } else if (!next.delete(row.id)) next.add(row.id);
    setAll(false);
    setLast(row.id);
    setChosen(next);
  };
  const items = rows.data?.pages.flatMap((page) => page.items) ?? [];
  const counts = rows.data?.pages[0]?.counts;
  return (
    <Page
      title="Pending"
      lead={
        counts
          ? `${plural(counts.pending, "row waits", "rows wait")}, ${plural(counts.processing, "is", "are")} being worked on.`
          : "Waiting and running rows of all jobs."
      }
    >
      <div className="mb-3 flex flex-wrap gap-2">
        <Choice
          label="Status"
          value={wanted}
          onChange={(status) => go({ status: status === "open" ? undefined : status })}
          options={[
            { value: "open", label: "Both" },
            { value: "PENDING", label: "Waiting" },
            { value: "PROCESSING", label: "Running" },
          ]}
        />
        {admin && (
          <Choice
            label="Whose"
            value={mine ? "me" : "all"}
            onChange={(owner) => go({ owner: owner === "all" ? "all" : undefined })}
            options={[
              { value: "me", label: "Mine" },
              { value: "all", label: "Everyone's" },
            ]}
          />
        )}
        <Input
          aria-label="Job type"
          placeholder="Job type"
          className="w-32"
          defaultValue={search.type}
          onBlur={(event) => go({ type: event.target.value.trim() || undefined })}
        />
        <span className="flex flex-wrap items-center gap-2 text-sm text-ink-2">
          Changed
          <Input
            aria-label="Changed since"
            type="date"
            className="w-36"
            value={search.from ?? ""}
            onChange={(event) => go({ from: event.target.value || undefined })}
          />
          to
          <Input
            aria-label="Changed until"
            type="date"
            className="w-36"
            value={search.to ?? ""}
            onChange={(event) => go({ to: event.target.value || undefined })}
          />
        </span>
        {(filtered || !!search.job) && (
          <Button look="quiet" onClick={() => void navigate({ to: "/pending", search: {}, replace: true })}>
            <FilterX aria-hidden /> All open rows
          </Button>
        )}
      </div>
      {(all || chosen.size > 0) && (
        <div className="mb-3">
          <OpenSelection
            selected={chosen.size}
            all={all}
            matching={counts && !filtered ? counts.pending + counts.processing : null}
            onTakeAll={() => setAll(true)}
            onClear={clear}
            which={() => (all ? { all: { userId: mine ? "me" : "all", ...filters } } : { rows: [...chosen] })}
            onDone={() => void rows.refetch()}
          />
        </div>
      )}
      <Oldest jobs={rows.data?.pages[0]?.oldest ?? []} onChoose={(job) => go({ job })} />
      <List
        query={rows}
        rows={items.length}
        empty={
          !filtered ? (
            <EmptyState
              icon={CircleDashed}
              title="No waiting rows"
              action={
                admin && mine && <Button onClick={() => go({ owner: "all" })}>Show everyone's rows</Button>
              }
            >
              {mine ? "All rows of your jobs are finished." : "All rows of all jobs are finished."}
            </EmptyState>
          ) : (
            <EmptyState icon={FilterX} title="No rows match" />
          )
        }
      >
        <PendingRows
          rows={items}
          selectable={canWrite}
          isSelected={(row) => all || chosen.has(row.id)}
          onSelect={select}
          onSelectAll={(on) => {
            setAll(false);
            setChosen(new Set(on ? items.map((one) => one.id) : []));
          }}
        />
      </List>
    </Page>
  );
}

type OldestJob = NonNullable<Schemas["PendingPage"]["oldest"]>[number];

/** The jobs whose rows wait longest; a click shows the rows of one. */
function Oldest({ jobs, onChoose }: { jobs: OldestJob[]; onChoose: (job: string) => void }) {
  if (jobs.length === 0) return null;
  return (
    <p className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-2">
      Waiting longest:
      {jobs.slice(0, 5).map((one) => (
        <button key={one.jobId} type="button" className="plain-link" onClick={() => onChoose(one.jobId)}>
          {one.jobName} ({duration(one.ageMs)})
        </button>
      ))}
    </p>
  );
}
