import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CircleDashed, FilterX } from "lucide-react";
import { Button } from "../../components/button";
import { Choice } from "../../components/choice";
import { EmptyState } from "../../components/empty";
import { Input } from "../../components/field";
import { Page } from "../../components/page";
import { ItemPill } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { count, percent, plural } from "../../lib/format";
import { useSession } from "../../lib/session";
import { duration } from "../../lib/time";

type Wanted = "open" | "PENDING" | "PROCESSING";

/** Open rows of all jobs, those that wait longest first. */
export default function Pending() {
  const search = useSearch({ from: "/inside/pending" });
  const navigate = useNavigate();
  const session = useSession();
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
    refetchInterval: 5000,
  });
  const items = rows.data?.pages.flatMap((page) => page.items) ?? [];
  const counts = rows.data?.pages[0]?.counts;
  return (
    <Page
      title="Pending"
      lead={
        counts
          ? `${plural(counts.pending, "row waits", "rows wait")}, ${plural(counts.processing, "is", "are")} being worked on.`
          : "Rows of all jobs that wait or are being worked on."
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
        <Input
          aria-label="Changed since"
          type="date"
          className="w-36"
          value={search.from ?? ""}
          onChange={(event) => go({ from: event.target.value || undefined })}
        />
        <Input
          aria-label="Changed until"
          type="date"
          className="w-36"
          value={search.to ?? ""}
          onChange={(event) => go({ to: event.target.value || undefined })}
        />
        {(filtered || !!search.job) && (
          <Button look="quiet" onClick={() => void navigate({ to: "/pending", search: {}, replace: true })}>
            <FilterX aria-hidden /> All open rows
          </Button>
        )}
      </div>
      <Oldest jobs={rows.data?.pages[0]?.oldest ?? []} onChoose={(job) => go({ job })} />
      <List
        query={rows}
        rows={items.length}
        empty={
          !filtered ? (
            <EmptyState icon={CircleDashed} title="Nothing waits">
              Every row of every job you may see has come to its end.
            </EmptyState>
          ) : (
            <EmptyState icon={FilterX} title="No such row at the moment" />
          )
        }
      >
        <Table
          label="Open rows"
          head={[
            { label: "Row" },
            { label: "Job" },
            { label: "Status" },
            { label: "Tries", className: "text-right" },
            { label: "Held by", className: "hidden lg:table-cell" },
            { label: "Updated", className: "hidden sm:table-cell" },
            { label: "Type", className: "hidden md:table-cell" },
            { label: "Job's progress", className: "hidden text-right md:table-cell" },
          ]}
        >
          {items.map((one) => (
            <tr key={one.id} className="relative h-9 hover:bg-hover">
              <td className="max-w-72 truncate">
                <Link
                  to="/jobs/$jobId"
                  params={{ jobId: one.jobId }}
                  search={{ row: one.rowNo }}
                  className="font-medium after:absolute after:inset-0"
                >
                  {one.inputSummary.title || one.inputSummary.sku || `Row ${count(one.rowNo)}`}
                </Link>
                {one.inputSummary.brand && <span className="text-ink-3"> · {one.inputSummary.brand}</span>}
              </td>
              <td className="max-w-48 truncate text-ink-2">{one.jobName}</td>
              <td>
                <ItemPill status={one.status as "PENDING" | "PROCESSING"} />
              </td>
              <td className="text-right">{one.attempts}</td>
              <td className="hidden font-mono text-xs whitespace-nowrap lg:table-cell">{one.lockedBy}</td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.updatedAt} />
              </td>
              <td className="hidden text-ink-2 md:table-cell">{one.jobType}</td>
              <td className="hidden text-right md:table-cell">{percent(one.progress.percent)}</td>
            </tr>
          ))}
        </Table>
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
