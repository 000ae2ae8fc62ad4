import { useQuery } from "@tanstack/react-query";
import { Card } from "../../components/page";
import { client, type FullJob, ok, type Schemas } from "../../lib/api";
import { compact } from "../../lib/format";
import { isLive } from "../../lib/states";
import { duration } from "../../lib/time";

type Course = Schemas["JobTimeline"];

/** How long each stage took, and how many rows were finished per second. */
export function Timeline({ job }: { job: FullJob }) {
  const live = isLive(job.state);
  const course = useQuery({
    queryKey: ["job", job.id, "timeline", live],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/timeline", { params: { path: { job_id: job.id } }, signal })),
    refetchInterval: live ? 3000 : false,
  }).data;
  if (!course || course.stages.length === 0) return null;
  return (
    <Card className="space-y-4 p-4">
      <Stages stages={course.stages} />
      {course.rates.length > 3 && <Rates rates={course.rates} />}
    </Card>
  );
}

function Stages({ stages }: { stages: Course["stages"] }) {
  const now = Date.now();
  const begin = Math.min(...stages.map((one) => Date.parse(one.startedAt)));
  const end = Math.max(...stages.map((one) => (one.endedAt ? Date.parse(one.endedAt) : now)));
  const whole = Math.max(1, end - begin);
  return (
    <div>
      <h2 className="mb-2 text-base font-semibold">Duration by stage</h2>
      <ol className="space-y-1.5 text-sm">
        {stages.map((one) => {
          const from = Date.parse(one.startedAt) - begin;
          const ms = one.durationMs ?? now - Date.parse(one.startedAt);
          return (
            <li
              key={`${one.kind} ${one.stage}`}
              className="grid grid-cols-[minmax(88px,120px)_1fr_72px] items-center gap-2"
            >
              <span className="truncate" title={one.kind}>
                {one.stage}
                {one.kind === "ranges" && <span className="text-ink-3"> in ranges</span>}
              </span>
              <span className="relative h-2.5 rounded-full bg-sunken" aria-hidden>
                <span
                  className="absolute inset-y-0 rounded-full bg-accent"
                  style={{
                    left: `${(100 * from) / whole}%`,
                    width: `${Math.max(0.75, (100 * Math.min(ms, whole - from)) / whole)}%`,
                  }}
                />
              </span>
              <span className="text-right whitespace-nowrap text-ink-2">
                {one.endedAt === null && "so far "}
                {duration(ms)}
              </span>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

const WIDTH = 600;
const HEIGHT = 80;

function Rates({ rates }: { rates: Course["rates"] }) {
  const times = rates.map((one) => Date.parse(one.at));
  const first = times[0] ?? 0;
  const span = Math.max(1, (times[times.length - 1] ?? 0) - first);
  const most = Math.max(...rates.map((one) => one.rowsPerSecond), 1);
  const points = rates.map((one, place) => {
    const x = (WIDTH * ((times[place] ?? first) - first)) / span;
    return `${x.toFixed(1)},${(HEIGHT - (HEIGHT * one.rowsPerSecond) / most).toFixed(1)}`;
  });
  const total = rates.reduce((sum, one) => sum + one.rowsPerSecond, 0);
  return (
    <div>
      <h2 className="mb-2 text-base font-semibold">Rows per second</h2>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        className="h-20 w-full text-accent"
        role="img"
        aria-label={`Rows per second over ${duration(span)}, at most ${compact(Math.round(most))}`}
      >
        <polyline
          points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`}
          fill="currentColor"
          opacity={0.15}
        />
        <polyline
          points={points.join(" ")}
          fill="none"
          stroke="currentColor"
          strokeWidth={1.5}
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      <p className="mt-1 text-xs text-ink-3">
        Over {duration(span)}; at most {compact(Math.round(most))}, on average{" "}
        {compact(Math.round(total / rates.length))}.
      </p>
    </div>
  );
}
