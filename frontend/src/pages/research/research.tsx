import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plug, Search } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Card, Page } from "../../components/page";
import { JobPill } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { randomId } from "../../lib/random";
import { type ResearchBody, sourcesQuery } from "../../lib/research";
import { useCanWrite } from "../../lib/session";
import { ResearchForm } from "./form";
import { Quotas } from "./quotas";

/** One query to all sources: the form, the quotas, and earlier requests. */
export default function Research() {
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const sources = useQuery(sourcesQuery);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const recent = useQuery({
    queryKey: ["research", "recent"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs", { params: { query: { pipeline: "research", pageSize: 20 } }, signal })),
    refetchInterval: 5000,
  });
  const ask = async (body: ResearchBody) => {
    setBusy(true);
    setError(null);
    try {
      const made = await ok(
        client.POST("/api/research", { headers: { "Idempotency-Key": `ui-${randomId()}` }, body }),
      );
      await navigate({ to: "/research/$jobId", params: { jobId: made.jobId } });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const enabled = (sources.data ?? []).filter((one) => one.enabled);
  const rows = recent.data?.items ?? [];
  return (
    <Page
      title="Research"
      lead="Ask all sources at once and get one list: duplicates merged, filtered, ranked."
      actions={
        <Button asChild>
          <Link to="/sources">
            <Plug aria-hidden /> Sources
          </Link>
        </Button>
      }
    >
      {sources.data && enabled.length === 0 ? (
        <EmptyState
          icon={Plug}
          title="No source yet"
          action={
            <Button asChild look="primary">
              <Link to="/sources">Add a source</Link>
            </Button>
          }
        >
          A source is a product API described by a configuration file. Add one to start.
        </EmptyState>
      ) : (
        <div className="grid grid-cols-1 gap-4 xl:grid-cols-[2fr_1fr]">
          <Card className="p-4">
            <ResearchForm
              sources={enabled}
              busy={busy}
              canWrite={canWrite}
              onAsk={(body) => void ask(body)}
            />
            {error !== null && <ErrorNote error={error} className="mt-3" />}
          </Card>
          <Quotas />
        </div>
      )}
      <h2 className="mt-6 mb-2 text-base font-semibold">Earlier requests</h2>
      <List
        query={recent}
        rows={rows.length}
        empty={
          <EmptyState icon={Search} title="No requests yet">
            Requests are listed here with their results.
          </EmptyState>
        }
      >
        <Table
          label="Earlier requests"
          head={[
            { label: "Query" },
            { label: "State" },
            { label: "Rows", className: "text-right" },
            { label: "Asked" },
          ]}
        >
          {rows.map((job) => (
            <tr key={job.id}>
              <td className="max-w-96 truncate">
                <Link
                  to="/research/$jobId"
                  params={{ jobId: job.id }}
                  className="text-accent underline-offset-2 hover:underline"
                >
                  {job.name}
                </Link>
              </td>
              <td>
                <JobPill state={job.state} />
              </td>
              <td className="text-right tabular-nums">{count(job.counters.total)}</td>
              <td className="whitespace-nowrap text-ink-2">
                <Time at={job.createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      </List>
    </Page>
  );
}
