import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ChevronLeft, FileSearch, FilterX, Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Input } from "../../components/field";
import { Page } from "../../components/page";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import { cellText } from "../../lib/format";

/** Crawled pages with what their newest version says. */
export default function Pages() {
  const search = useSearch({ from: "/inside/pages" });
  const navigate = useNavigate();
  const [typed, setTyped] = useState(search.company ?? "");
  const pages = useInfiniteQuery({
    queryKey: ["pages", "list", search.company ?? ""],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/pages", {
          params: { query: { company: search.company ?? "", pageSize: 50, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const rows = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const find = (event: FormEvent) => {
    event.preventDefault();
    const company = typed.trim();
    void navigate({ to: "/pages", search: company ? { company } : {}, replace: true });
  };
  return (
    <Page
      title="Crawled pages"
      lead={
        <Link to="/runs" className="inline-flex items-center text-ink-2 hover:text-ink">
          <ChevronLeft className="size-4" aria-hidden /> Crawl runs
        </Link>
      }
    >
      <form onSubmit={find} role="search" className="mb-3 flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label="Company"
          placeholder="Exact company name"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="w-full sm:w-72"
        />
        <Button type="submit">
          <Search aria-hidden /> Search
        </Button>
      </form>
      <List
        query={pages}
        rows={rows.length}
        empty={
          search.company ? (
            <EmptyState icon={FilterX} title="No pages of this company" />
          ) : (
            <EmptyState icon={FileSearch} title="No pages yet">
              Pages that a run has fetched are listed here, with their versions.
            </EmptyState>
          )
        }
      >
        <Table
          label="Crawled pages"
          head={[
            { label: "Page" },
            { label: "Company", className: "hidden sm:table-cell" },
            { label: "Kind" },
            { label: "Version", className: "hidden text-right md:table-cell" },
            { label: "Looked at", className: "hidden md:table-cell" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id} className="relative h-9 hover:bg-hover">
              <td className="w-full max-w-0 truncate">
                <Link
                  to="/pages/$pageId"
                  params={{ pageId: one.id }}
                  className="font-medium after:absolute after:inset-0"
                >
                  {cellText(one.fields?.name ?? one.fields?.title) || one.url}
                </Link>
                <span className="block truncate text-xs text-ink-3">{one.url}</span>
              </td>
              <td className="hidden max-w-40 truncate sm:table-cell">{one.company}</td>
              <td className="whitespace-nowrap">
                {one.kind === "job" ? "Job posting" : one.kind === "product" ? "Product" : "–"}
                {one.state === "expired" && (
                  <Badge tone="not-found" className="ml-2">
                    Expired
                  </Badge>
                )}
              </td>
              <td className="hidden text-right tabular-nums md:table-cell">{one.version}</td>
              <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
                <Time at={one.checkedAt} />
              </td>
            </tr>
          ))}
        </Table>
      </List>
    </Page>
  );
}
