import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Choice } from "../../components/choice";
import { ErrorNote } from "../../components/error-note";
import { Input } from "../../components/field";
import { Card } from "../../components/page";
import { client, ok, type Schemas } from "../../lib/api";
import { compact } from "../../lib/format";
import { duration } from "../../lib/time";
import { type Line, LineChart } from "./line-chart";

type Range = Schemas["History"]["range"];
type Point = Schemas["HistoryPoint"];
const RANGES: { value: Range; label: string }[] = [
  { value: "1h", label: "1 h" },
  { value: "24h", label: "24 h" },
  { value: "7d", label: "7 d" },
  { value: "30d", label: "30 d" },
];

interface Series {
  title: string;
  shown: (value: number) => string;
  max?: number;
  lines: { label: string; colour: string; of: (point: Point) => number | null }[];
}

const count = (value: number) => compact(value);
const time = (value: number) => duration(value);
const SERIES: Series[] = [
  {
    title: "Jobs per minute",
    shown: count,
    lines: [{ label: "Jobs", colour: "--accent", of: (one) => one.jobsPerMinute }],
  },
  {
    title: "Success",
    shown: (value) => `${value} %`,
    max: 100,
    lines: [
      {
        label: "Success",
        colour: "--done",
        of: (one) => (one.successRate === null ? null : 100 * one.successRate),
      },
    ],
  },
  {
    title: "Duration of jobs",
    shown: time,
    lines: [
      { label: "p50", colour: "--accent", of: (one) => one.p50Ms },
      { label: "p95", colour: "--not-found", of: (one) => one.p95Ms },
    ],
  },
  {
    title: "Jobs in the queue",
    shown: count,
    lines: [{ label: "Depth", colour: "--accent", of: (one) => one.maxDepth }],
  },
  {
    title: "Oldest job waits",
    shown: time,
    lines: [{ label: "Oldest", colour: "--not-found", of: (one) => one.oldestWaitingMs }],
  },
];

/** Figures over time, of all jobs or of one pipeline and org. */
export function HistoryCharts() {
  const [range, setRange] = useState<Range>("1h");
  const [pipeline, setPipeline] = useState("");
  const [org, setOrg] = useState("");
  const history = useQuery({
    queryKey: ["monitor", "history", range, pipeline, org],
    queryFn: ({ signal }) =>
      ok(
        client.GET("/api/monitor/history", {
          params: { query: { range, pipeline: pipeline || undefined, org: org || undefined } },
          signal,
        }),
      ),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-labelledby="over-time">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 id="over-time" className="mr-auto text-base font-semibold">
          Over time
        </h2>
        <Input
          aria-label="Pipeline"
          placeholder="All pipelines"
          className="w-36"
          value={pipeline}
          onChange={(event) => setPipeline(event.target.value.trim())}
        />
        <Input
          aria-label="Org"
          placeholder="All orgs"
          className="w-28"
          value={org}
          onChange={(event) => setOrg(event.target.value.trim())}
        />
        <Choice label="Range" value={range} onChange={setRange} options={RANGES} />
      </div>
      {history.error && <ErrorNote error={history.error} onRetry={() => void history.refetch()} />}
      {history.data && <Charts points={history.data.points} />}
    </section>
  );
}

function Charts({ points }: { points: Point[] }) {
  const times = useMemo(() => points.map((one) => Date.parse(one.at) / 1000), [points]);
  return (
    <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
      {SERIES.map((series) => (
        <ChartCard key={series.title} series={series} points={points} times={times} />
      ))}
    </div>
  );
}

function ChartCard({ series, points, times }: { series: Series; points: Point[]; times: number[] }) {
  const lines: Line[] = useMemo(
    () => series.lines.map(({ label, colour, of }) => ({ label, colour, values: points.map(of) })),
    [series, points],
  );
  const latest = lines.map((line) => {
    const value = line.values.findLast((one) => one !== null) ?? null;
    return `${line.label} ${value === null ? "–" : series.shown(Math.round(100 * value) / 100)}`;
  });
  return (
    <Card className="p-3">
      <h3 className="text-sm font-medium">{series.title}</h3>
      <LineChart times={times} lines={lines} shown={series.shown} label={series.title} max={series.max} />
      <p className="mt-1 text-xs text-ink-2">Latest: {latest.join(", ")}</p>
    </Card>
  );
}
