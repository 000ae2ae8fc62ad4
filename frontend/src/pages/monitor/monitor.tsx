import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CirclePause, CirclePlay, TriangleAlert } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Card, Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { cn } from "../../lib/cn";
import { bytes, compact, count, percent, plural } from "../../lib/format";
import { duration } from "../../lib/time";
import { Alerts, Runbook } from "./alerts";
import { Chart } from "./chart";
import { Extraction } from "./extraction";
import { FailureGroups } from "./failure-groups";
import { HistoryCharts } from "./history";

type Monitor = Schemas["Monitor"];

/** Whether all is well, in one sentence, and what it is made of. */
export default function MonitorPage() {
  const seen = useQuery({
    queryKey: ["monitor"],
    queryFn: ({ signal }) => ok(client.GET("/api/monitor", { signal })),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
  const now = seen.data;
  return (
    <Page title="Monitor" lead="This installation, as of a few seconds ago.">
      {seen.error && <ErrorNote error={seen.error} onRetry={() => void seen.refetch()} className="mb-3" />}
      {!now ? (
        seen.isPending && <RowsSkeleton />
      ) : (
        <div className="space-y-5">
          <Verdict now={now} />
          <Figures now={now} />
          <section>
            <h2 className="mb-2 text-base font-semibold">Rows finished, by minute</h2>
            <Card className="p-3">
              <Chart minutes={now.lastHour.minutes} />
              <p className="mt-1 text-xs text-ink-3">
                The last hour: {plural(now.lastHour.rows, "row")} of{" "}
                {plural(now.lastHour.done, "finished job")}, counted when a job has ended.
                {now.lastHour.capped && " Only the latest jobs are counted."}
              </p>
            </Card>
          </section>
          <Alerts />
          <HistoryCharts />
          <Extraction />
          <Workers now={now} />
          <FailureGroups groups={now.failureGroups} />
          <Failures now={now} />
          <Lanes />
          <Tables now={now} />
        </div>
      )}
    </Page>
  );
}

function Verdict({ now }: { now: Monitor }) {
  const well = now.verdict.level === "healthy";
  const Icon = well ? CircleCheck : TriangleAlert;
  return (
    <div
      role="status"
      className={cn(
        "flex items-start gap-2 rounded-lg border px-4 py-3 text-base font-medium",
        well ? "border-done/25 bg-done-bg text-done" : "border-not-found/30 bg-not-found-bg text-not-found",
      )}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
      {well ? (
        <span>{now.verdict.message}</span>
      ) : (
        <div>
          <span className="capitalize">{now.verdict.level}</span>
          {now.verdict.since && (
            <>
              , began <Time at={now.verdict.since} />
            </>
          )}
          <ul className="mt-1 space-y-0.5 text-sm font-normal">
            {now.verdict.reasons.map((one) => (
              <li key={`${one.code} ${one.scope ?? ""}`}>
                {one.message} <Runbook href={one.runbook} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Figures({ now }: { now: Monitor }) {
  const { queue, lastHour } = now;
  const busy = Object.values(now.slices).reduce((sum, one) => sum + one, 0);
  return (
    <dl className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-6">
      <Figure name="Jobs in the queue" value={count(queue.depth)}>
        {count(queue.waiting)} waiting, {count(queue.active)} running, {count(queue.delayed)} delayed
      </Figure>
      <Figure name="Oldest waiting" value={queue.waiting ? duration(queue.oldestWaitingMs) : "–"}>
        level {queue.level}
      </Figure>
      <Figure name="Workers" value={count(queue.workers)}>
        {count(busy)} of {plural(queue.slots, "slot")} busy
      </Figure>
      <Figure
        name="Rows without an error"
        value={lastHour.rowSuccessRate === null ? "–" : percent(100 * lastHour.rowSuccessRate)}
      >
        of {plural(lastHour.rows, "row")}; {plural(lastHour.done, "job")} done, {count(lastHour.failed)}{" "}
        failed or without a good row
      </Figure>
      <Figure name="A job takes" value={time(lastHour.durationMs.p50)}>
        p95 {time(lastHour.durationMs.p95)}, p99 {time(lastHour.durationMs.p99)}
      </Figure>
      <Figure name="Dead letters" value={count(queue.deadLetters)}>
        <Link to="/dead-letters" className="plain-link">
          open ones
        </Link>
      </Figure>
    </dl>
  );
}

function time(ms: number | null): string {
  return ms === null ? "–" : duration(ms);
}

function Figure({ name, value, children }: { name: string; value: string; children: ReactNode }) {
  return (
    <div className="rounded-lg border bg-surface px-4 py-3">
      <dt className="text-xs text-ink-2">{name}</dt>
      <dd className="mt-0.5 text-xl font-semibold">{value}</dd>
      <dd className="text-xs text-ink-3">{children}</dd>
    </div>
  );
}

function Workers({ now }: { now: Monitor }) {
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">Workers</h2>
      <Card className="overflow-hidden">
        {now.workers.length === 0 ? (
          <p className="px-4 py-3 text-sm text-ink-2">
            None is running. Start some with <code className="font-mono">penstock worker</code>, or everything
            with <code className="font-mono">penstock up</code>.
          </p>
        ) : (
          <Table
            label="Workers"
            head={[
              { label: "Worker" },
              { label: "Works on" },
              { label: "Slots", className: "text-right" },
              { label: "Rows/s", className: "text-right" },
              { label: "CPU", className: "text-right" },
              { label: "Memory", className: "hidden text-right sm:table-cell" },
              { label: "Started", className: "hidden md:table-cell" },
            ]}
          >
            {now.workers.map((one) => {
              const figures = one.figures as Record<string, number | undefined>;
              return (
                <tr key={one.id}>
                  <td className="font-mono text-xs whitespace-nowrap">{one.id}</td>
                  <td className="max-w-80 min-w-40">
                    <Holds slices={one.holds} />
                  </td>
                  <td className="text-right whitespace-nowrap">
                    {figures.busy ?? 0} / {one.slots}
                  </td>
                  <td className="text-right">{compact(Math.round(figures.itemsPerSecond ?? 0))}</td>
                  <td className="text-right">{percent(Math.round(100 * (figures.cpuShare ?? 0)))}</td>
                  <td className="hidden text-right whitespace-nowrap sm:table-cell">
                    {bytes(figures.rssBytes ?? 0)}
                  </td>
                  <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
                    <Time at={one.startedAt} />
                  </td>
                </tr>
              );
            })}
          </Table>
        )}
      </Card>
    </section>
  );
}

/** What a worker holds now: the job, its stage, and since when. */
function Holds({ slices }: { slices: Schemas["HeldSlice"][] }) {
  if (slices.length === 0) return <span className="text-ink-3">nothing</span>;
  const shown = slices.slice(0, 4);
  return (
    <ul className="space-y-0.5 text-xs">
      {shown.map((one) => (
        <li key={`${one.jobId} ${one.stage} ${one.since}`} className="truncate">
          <Link to="/jobs/$jobId" params={{ jobId: one.jobId }} className="plain-link">
            {one.name}
          </Link>{" "}
          <span className="text-ink-3">
            {one.stage}
            {one.items > 0 && `, ${plural(one.items, "row")}`}, started <Time at={one.since} />
          </span>
        </li>
      ))}
      {slices.length > shown.length && (
        <li className="text-ink-3">and {count(slices.length - shown.length)} more</li>
      )}
    </ul>
  );
}

/** The largest tables: what the installation keeps, and what retention would free. */
function Tables({ now }: { now: Monitor }) {
  if (now.tables.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">Largest tables</h2>
      <Card className="overflow-hidden">
        <Table
          label="Largest tables"
          head={[
            { label: "Table" },
            { label: "Size", className: "text-right" },
            { label: "Rows, estimated", className: "text-right" },
            { label: "Deleted, not reused yet", className: "hidden text-right sm:table-cell" },
          ]}
        >
          {now.tables.map((one) => (
            <tr key={one.name}>
              <td className="font-mono text-xs">{one.name}</td>
              <td className="text-right whitespace-nowrap">{bytes(one.bytes)}</td>
              <td className="text-right">{compact(one.rows)}</td>
              <td className="hidden text-right sm:table-cell">{compact(one.deadRows)}</td>
            </tr>
          ))}
        </Table>
      </Card>
    </section>
  );
}

function Failures({ now }: { now: Monitor }) {
  if (now.failures.length === 0) return null;
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">Recent failures</h2>
      <Card className="divide-y">
        {now.failures.map((one) => (
          <Link
            key={one.letterId}
            to="/dead-letters"
            search={{ letter: one.letterId }}
            className="block px-4 py-2 text-sm hover:bg-hover"
          >
            <span className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-mono text-xs text-error">{one.code}</span>
              <span className="font-medium">{one.name}</span>
              <span className="text-xs text-ink-3">
                {one.pipeline} · <Time at={one.at} />
              </span>
            </span>
            <span className="line-clamp-1 text-ink-2">{one.message}</span>
          </Link>
        ))}
      </Card>
    </section>
  );
}

function Lanes() {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const lanes = useQuery({
    queryKey: ["lanes"],
    queryFn: ({ signal }) => ok(client.GET("/api/queues", { signal })),
    refetchInterval: 5000,
  });
  const move = async (lane: string, paused: boolean) => {
    setError(null);
    try {
      const params = { path: { lane } };
      await ok(
        paused
          ? client.POST("/api/queues/{lane}/resume", { params })
          : client.POST("/api/queues/{lane}/pause", { params }),
      );
      void queries.invalidateQueries({ queryKey: ["lanes"] });
    } catch (problem) {
      setError(problem);
    }
  };
  const rows = lanes.data?.items ?? [];
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">Lanes</h2>
      {(lanes.error ?? error) !== null && <ErrorNote error={lanes.error ?? error} className="mb-2" />}
      <Card className="overflow-hidden">
        <Table
          label="Lanes"
          head={[
            { label: "Lane" },
            { label: "Live jobs", className: "text-right" },
            { label: "State" },
            { label: <span className="sr-only">Actions</span> },
          ]}
        >
          {rows.map((lane) => (
            <tr key={lane.lane}>
              <td className="font-mono text-xs">{lane.lane}</td>
              <td className="text-right">{count(lane.jobs)}</td>
              <td>
                {lane.paused ? (
                  <span className="flex flex-wrap items-center gap-2">
                    <Badge tone="paused">
                      <CirclePause className="size-3" aria-hidden /> Paused
                    </Badge>
                    <span className="text-xs text-ink-2">
                      {lane.pausedBy} <Time at={lane.pausedAt} /> {lane.reason}
                    </span>
                  </span>
                ) : (
                  <Badge tone="done">
                    <CircleCheck className="size-3" aria-hidden /> Open
                  </Badge>
                )}
              </td>
              <td className="text-right">
                <Button size="sm" onClick={() => void move(lane.lane, lane.paused)}>
                  {lane.paused ? <CirclePlay aria-hidden /> : <CirclePause aria-hidden />}
                  {lane.paused ? "Resume" : "Pause"}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      </Card>
    </section>
  );
}
