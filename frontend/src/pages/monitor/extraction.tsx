import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { ErrorNote } from "../../components/error-note";
import { Card } from "../../components/page";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { client, ok, type Schemas } from "../../lib/api";
import { count, percent, plural } from "../../lib/format";
import { duration } from "../../lib/time";

type Seen = Schemas["ExtractionMonitor"];
type Check = Seen["checks"][number];
const NAMES: Record<Check["name"], string> = {
  queue: "Jobs in the queue",
  deadLetters: "Open dead letters",
  successRate: "Jobs that succeed",
  avgDurationMs: "Average duration of a job",
};

/** Whether extraction is as it should be: each check with what is, and what may be. */
export function Extraction() {
  const seen = useQuery({
    queryKey: ["monitor", "extraction"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/extraction/monitor", { params: { query: { view: "dashboard" } }, signal })),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });
  const now = seen.data;
  if (!now && !seen.error) return null;
  return (
    <section aria-labelledby="extraction">
      <div className="mb-2 flex items-center gap-2">
        <h2 id="extraction" className="text-base font-semibold">
          Extraction
        </h2>
        {now && <Badge tone={now.status === "healthy" ? "done" : "not-found"}>{now.status}</Badge>}
      </div>
      {seen.error && <ErrorNote error={seen.error} onRetry={() => void seen.refetch()} className="mb-2" />}
      {now && (
        <Card className="overflow-hidden">
          <Table
            label="Checks of extraction"
            head={[
              { label: "Check" },
              { label: "Is", className: "text-right" },
              { label: "May be", className: "text-right" },
              { label: "State" },
            ]}
          >
            {now.checks.map((one) => (
              <tr key={one.name}>
                <td>{NAMES[one.name]}</td>
                <td className="text-right">{shown(one.name, one.value)}</td>
                <td className="text-right whitespace-nowrap text-ink-2">
                  {one.name === "successRate" ? "at least " : "up to "}
                  {shown(one.name, one.threshold)}
                </td>
                <td>
                  <Badge tone={one.ok ? "done" : "not-found"}>
                    {one.ok ? (
                      <CircleCheck className="size-3" aria-hidden />
                    ) : (
                      <CircleX className="size-3" aria-hidden />
                    )}
                    {one.ok ? "Good" : "Show details"}
                  </Badge>
                </td>
              </tr>
            ))}
          </Table>
          <p className="border-t px-3 py-2 text-xs text-ink-2">
            {plural(now.performance.jobsLastHour, "job")} ended in the last hour,{" "}
            {plural(Math.round(now.performance.throughput), "row")} a minute.{" "}
            {now.errors.totalErrors24h > 0
              ? `Failed in the last day: ${now.errors.topErrors
                  .map((one) => `${one.code} (${count(one.count)})`)
                  .join(", ")}.`
              : "None failed in the last day."}
          </p>
        </Card>
      )}
    </section>
  );
}

function shown(name: Check["name"], value: number | null): string {
  if (value === null) return "–";
  if (name === "successRate") return percent(100 * value);
  return name === "avgDurationMs" ? duration(value) : count(value);
}
