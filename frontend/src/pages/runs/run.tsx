import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Ban, ChevronLeft, RefreshCw, Rows3 } from "lucide-react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Card, Page } from "../../components/page";
import { ProgressBar } from "../../components/progress";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Facts, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { count, plural } from "../../lib/format";
import { isLive, PAGE_STATES, RUN_STATES, type Run } from "../../lib/runs";
import { useCanWrite } from "../../lib/session";
import { CountsBar } from "./counts-bar";

/** One run: how far it is, and how each company stands. */
export default function RunPage() {
  const { runId } = useParams({ from: "/inside/runs/$runId" });
  const run = useQuery({
    queryKey: ["runs", "one", runId],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
    refetchInterval: (query) => (query.state.data && !isLive(query.state.data.status) ? false : 1000),
  });
  const one = run.data;
  return (
    <Page
      title={one?.name ?? "Crawl run"}
      lead={
        <Link to="/runs" className="inline-flex items-center text-ink-2 hover:text-ink">
          <ChevronLeft className="size-4" aria-hidden /> Crawl runs
        </Link>
      }
      beside={one && <Badge tone={RUN_STATES[one.status].tone}>{RUN_STATES[one.status].word}</Badge>}
      actions={one && <Actions run={one} />}
    >
      {run.error && <ErrorNote error={run.error} onRetry={() => void run.refetch()} className="mb-4" />}
      {!one ? (
        run.isPending && <RowsSkeleton />
      ) : (
        <div className="space-y-5">
          <Counts run={one} />
          <div className="grid gap-5 xl:grid-cols-[3fr_1fr]">
            <Companies run={one} />
            <About run={one} />
          </div>
        </div>
      )}
    </Page>
  );
}

function Actions({ run }: { run: Run }) {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const { busy, error, attempt } = useAttempt();
  const act = async (work: () => Promise<string>) => {
    await attempt(async () => {
      toast.success(await work());
      await queries.invalidateQueries({ queryKey: ["runs"] });
    });
  };
  const abort = async () => {
    await ok(client.POST("/api/runs/{run_id}/abort", { params: { path: { run_id: run.id } } }));
    return "The run is aborted";
  };
  const extract = async () => {
    const made = await ok(
      client.POST("/api/jobs/{job_id}/reprocess", {
        params: { path: { job_id: run.id } },
        body: {
          scope: "job",
          stage: "extract",
          resetAttempts: true,
          statuses: ["DONE", "SKIPPED", "ERROR"],
        } as never,
      }),
    );
    return `${plural(made.reprocessed, "page")} are extracted again`;
  };
  return (
    <>
      <Button asChild>
        <Link to="/jobs/$jobId" params={{ jobId: run.id }}>
          <Rows3 aria-hidden /> Rows and export
        </Link>
      </Button>
      {canWrite &&
        (isLive(run.status) ? (
          <Button look="danger" busy={busy} onClick={() => void act(abort)}>
            {!busy && <Ban aria-hidden />} Abort
          </Button>
        ) : (
          <Button busy={busy} onClick={() => void act(extract)}>
            {!busy && <RefreshCw aria-hidden />} Extract again
          </Button>
        ))}
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}

function Counts({ run }: { run: Run }) {
  return (
    <Card className="p-4">
      <dl className="grid grid-cols-3 gap-3 sm:grid-cols-6">
        {PAGE_STATES.map((state) => (
          <div key={state.name}>
            <dt>
              <Badge tone={state.tone}>{state.word}</Badge>
            </dt>
            <dd className="mt-1 text-xl font-semibold tabular-nums">{count(run.counts[state.name])}</dd>
          </div>
        ))}
      </dl>
      <div className="mt-4 grid gap-3 sm:grid-cols-2">
        <Stage name="Crawled" stage={run.crawl} />
        <Stage name="Extracted" stage={run.extract} />
      </div>
    </Card>
  );
}

function Stage({ name, stage }: { name: string; stage: Run["crawl"] }) {
  const share = stage.total === 0 ? 0 : (100 * stage.done) / stage.total;
  return (
    <div>
      <p className="mb-1 flex justify-between text-sm text-ink-2">
        <span>{name}</span>
        <span className="tabular-nums">
          {count(stage.done)} of {count(stage.total)}
        </span>
      </p>
      <ProgressBar value={share} label={name} />
    </div>
  );
}

function Companies({ run }: { run: Run }) {
  return (
    <section className="min-w-0" aria-label="Companies">
      <h2 className="mb-2 text-base font-semibold">Companies</h2>
      <Card className="overflow-hidden">
        <Table
          label="Pages by company"
          head={[
            { label: "Company" },
            { label: "Progress", className: "hidden w-1/5 md:table-cell" },
            { label: "Found", className: "text-right" },
            ...PAGE_STATES.map((state) => ({ label: state.word, className: "text-right" })),
          ]}
        >
          {run.companies.map((one) => (
            <tr key={one.company}>
              <td className="max-w-48">
                <Link to="/pages" search={{ company: one.company }} className="plain-link truncate">
                  {one.company}
                </Link>
                {one.stopped && (
                  <Badge tone="error" className="ml-2">
                    Stopped
                  </Badge>
                )}
              </td>
              <td className="hidden md:table-cell">
                <CountsBar counts={one.counts} />
              </td>
              <td className="text-right tabular-nums">{count(one.found)}</td>
              {PAGE_STATES.map((state) => (
                <td key={state.name} className="text-right tabular-nums">
                  {one.counts[state.name] === 0 ? (
                    <span className="text-ink-3">0</span>
                  ) : (
                    count(one.counts[state.name])
                  )}
                </td>
              ))}
            </tr>
          ))}
        </Table>
        {run.companies.length === 0 && (
          <p className="p-3 text-sm text-ink-2">The list of pages is being read.</p>
        )}
      </Card>
      {run.companies.some((one) => one.stopped) && (
        <p className="mt-1 text-xs text-ink-3">
          A company is stopped after five pages that failed; the rest of its pages was not requested.
        </p>
      )}
    </section>
  );
}

function About({ run }: { run: Run }) {
  const config = run.config as { kind?: string; rate?: number; robots?: boolean; recrawl?: boolean };
  return (
    <section className="min-w-0">
      <h2 className="mb-2 text-base font-semibold">The run</h2>
      <Facts
        facts={[
          [
            "Pages are",
            config.kind === "job" ? "job postings" : config.kind === "product" ? "products" : "either",
          ],
          ["Rate", `${config.rate ?? 1} a second per company`],
          ["robots.txt", config.robots === false ? "ignored" : "honoured"],
          ["Unchanged pages", config.recrawl ? "written again" : "skipped"],
          ["Started by", run.owner],
          ["Created", <Time key="made" at={run.createdAt} />],
          ["Finished", run.finishedAt && <Time key="end" at={run.finishedAt} />],
          [
            "Job postings",
            <Link key="postings" to="/postings" search={{ run: run.id }} className="plain-link">
              of this run
            </Link>,
          ],
        ]}
      />
    </section>
  );
}
