import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Briefcase, FilterX, Search, Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { EmptyState } from "../../components/empty";
import { Input, Select } from "../../components/field";
import { Page } from "../../components/page";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok, type Schemas } from "../../lib/api";
import { cellText } from "../../lib/format";
import { useCanWrite } from "../../lib/session";
import { ExportPostings } from "./export";

/** Job postings that were found on crawled pages. */
export default function Postings() {
  const search = useSearch({ from: "/inside/postings" });
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const [doomed, setDoomed] = useState<Schemas["PostingShape"] | null>(null);
  const [typed, setTyped] = useState(search.q ?? "");
  const filter = {
    q: search.q ?? "",
    ...(search.run ? { runId: search.run } : {}),
    ...(search.state === "open" || search.state === "expired"
      ? { state: search.state as "open" | "expired" }
      : {}),
  };
  const postings = useInfiniteQuery({
    queryKey: ["postings", filter],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/postings", {
          params: { query: { ...filter, pageSize: 50, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const rows = postings.data?.pages.flatMap((page) => page.items) ?? [];
  const filtered = !!(search.q || search.state || search.run);
  const go = (next: typeof search) => void navigate({ to: "/postings", search: next, replace: true });
  const find = (event: FormEvent) => {
    event.preventDefault();
    go({ ...search, q: typed.trim() || undefined });
  };
  return (
    <Page
      title="Job postings"
      lead="Job postings found on crawled pages. A posting expires when its page is gone."
      actions={<ExportPostings filter={filter} />}
    >
      <form onSubmit={find} role="search" className="mb-3 flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label="Search job postings"
          placeholder="Title, employer or place"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="w-full sm:w-72"
        />
        <Select
          aria-label="State"
          className="w-36"
          value={search.state ?? ""}
          onChange={(event) => go({ ...search, state: event.target.value || undefined })}
        >
          <option value="">Any state</option>
          <option value="open">Open</option>
          <option value="expired">Expired</option>
        </Select>
        <Button type="submit">
          <Search aria-hidden /> Search
        </Button>
        {filtered && (
          <Button
            look="quiet"
            onClick={() => {
              setTyped("");
              go({});
            }}
          >
            <FilterX aria-hidden /> All postings
          </Button>
        )}
      </form>
      <List
        query={postings}
        rows={rows.length}
        empty={
          filtered ? (
            <EmptyState icon={FilterX} title="No job posting matches" />
          ) : (
            <EmptyState icon={Briefcase} title="No job postings yet">
              Crawl pages of companies; those with a job posting are listed here.
            </EmptyState>
          )
        }
      >
        <Table
          label="Job postings"
          head={[
            { label: "Title" },
            { label: "Employer", className: "hidden sm:table-cell" },
            { label: "Place", className: "hidden md:table-cell" },
            { label: "Type", className: "hidden lg:table-cell" },
            { label: "Posted", className: "hidden md:table-cell" },
            { label: "State" },
            { label: "Updated", className: "hidden xl:table-cell" },
            ...(canWrite ? [{ label: <span className="sr-only">Actions</span> }] : []),
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id} className="relative h-9 hover:bg-hover">
              <td className="w-full max-w-0 truncate sm:w-1/3">
                <Link
                  to="/pages/$pageId"
                  params={{ pageId: one.pageId }}
                  className="font-medium after:absolute after:inset-0"
                >
                  {one.title}
                </Link>
              </td>
              <td className="hidden max-w-40 truncate sm:table-cell">
                {cellText(one.fields.company) || one.company}
              </td>
              <td className="hidden max-w-48 truncate md:table-cell">{listed(one.fields.locations)}</td>
              <td className="hidden whitespace-nowrap lg:table-cell">
                {listed(one.fields.employmentType).replaceAll("_", " ").toLowerCase()}
              </td>
              <td className="hidden whitespace-nowrap md:table-cell">{cellText(one.fields.datePosted)}</td>
              <td>
                <Badge tone={one.state === "open" ? "done" : "not-found"}>
                  {one.state === "open" ? "Open" : "Expired"}
                </Badge>
              </td>
              <td className="hidden whitespace-nowrap text-ink-2 xl:table-cell">
                <Time at={one.updatedAt} />
              </td>
              {canWrite && (
                <td className="relative z-10 w-0">
                  <Button
                    size="icon-sm"
                    look="quiet"
                    aria-label={`Delete ${one.title}`}
                    onClick={() => setDoomed(one)}
                  >
                    <Trash2 aria-hidden />
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </Table>
      </List>
      <Confirm
        open={doomed !== null}
        onOpenChange={() => setDoomed(null)}
        title={`Delete ${doomed?.title ?? ""}?`}
        action="Delete"
        danger
        onConfirm={async () => {
          if (doomed === null) return;
          const path = { posting_id: doomed.id };
          await ok(client.DELETE("/api/postings/{posting_id}", { params: { path } }));
          toast.success("The job posting is deleted");
          await postings.refetch();
        }}
      >
        <p>Its page stays. The posting comes back when a run finds that the page has changed.</p>
      </Confirm>
    </Page>
  );
}

function listed(value: unknown): string {
  return Array.isArray(value) ? value.map(cellText).join("; ") : cellText(value);
}
