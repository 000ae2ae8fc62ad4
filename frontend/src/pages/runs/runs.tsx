import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FileSearch, Globe, Plus } from "lucide-react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Page } from "../../components/page";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { isLive, RUN_STATES } from "../../lib/runs";
import { useCanWrite } from "../../lib/session";
import { CountsBar } from "./counts-bar";

/** Crawl runs, newest first. */
export default function Runs() {
  const canWrite = useCanWrite();
  const runs = useInfiniteQuery({
    queryKey: ["runs", "list"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/runs", { params: { query: { pageSize: 50, after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      query.state.data?.pages.some((page) => page.items.some((one) => isLive(one.status))) ? 2000 : 15_000,
  });
  const rows = runs.data?.pages.flatMap((page) => page.items) ?? [];
  const start = canWrite && (
    <Button asChild look="primary">
      <Link to="/new" search={{ source: "crawl" }}>
        <Plus aria-hidden /> New run
      </Link>
    </Button>
  );
  return (
    <Page
      title="Crawl runs"
      lead="Extract products and job postings from company web sites, in order and at a limited rate."
      actions={
        <>
          <Button asChild>
            <Link to="/pages">
              <FileSearch aria-hidden /> Pages
            </Link>
          </Button>
          {rows.length > 0 && start}
        </>
      }
    >
      <List
        query={runs}
        rows={rows.length}
        empty={
          <EmptyState icon={Globe} title="No runs yet" action={start}>
            A run takes a list of pages, a sitemap, or a page whose links are followed.
          </EmptyState>
        }
      >
        <Table
          label="Crawl runs"
          head={[
            { label: "Run" },
            { label: "State" },
            { label: "Pages", className: "hidden w-1/4 md:table-cell" },
            { label: "Ready", className: "text-right" },
            { label: "Errors", className: "hidden text-right sm:table-cell" },
            { label: "Started", className: "hidden sm:table-cell" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id} className="relative h-9 hover:bg-hover">
              <td className="w-full max-w-0 truncate sm:w-1/3">
                <Link
                  to="/runs/$runId"
                  params={{ runId: one.id }}
                  className="font-medium after:absolute after:inset-0"
                >
                  {one.name}
                </Link>
              </td>
              <td>
                <Badge tone={RUN_STATES[one.status].tone}>{RUN_STATES[one.status].word}</Badge>
              </td>
              <td className="hidden md:table-cell">
                <CountsBar counts={one.counts} />
              </td>
              <td className="text-right tabular-nums">{count(one.counts.ready)}</td>
              <td className="hidden text-right tabular-nums sm:table-cell">{count(one.counts.error)}</td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      </List>
    </Page>
  );
}
