import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CalendarClock, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import { aboutAction, KINDS, RUN_TONES, type Schedule, schedulesQuery } from "../../lib/schedules";
import { useCanWrite } from "../../lib/session";
import { ScheduleDetail } from "./detail";
import { ScheduleEditor } from "./editor";

/** What is done by the clock, and what became of it. */
export default function Schedules() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const schedules = useQuery(schedulesQuery);
  const [adding, setAdding] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const rows = schedules.data ?? [];
  const add = canWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden /> New schedule
    </Button>
  );
  return (
    <Page
      title="Schedules"
      lead="Runs imports, crawls, research, scans and exports at set times."
      actions={rows.length > 0 && add}
    >
      {schedules.error && (
        <ErrorNote error={schedules.error} onRetry={() => void schedules.refetch()} className="mb-4" />
      )}
      {schedules.isPending && <RowsSkeleton rows={4} />}
      {schedules.data && rows.length === 0 && (
        <EmptyState icon={CalendarClock} title="No schedules yet" action={add}>
          Fetch a price list every morning, import a shop every hour, or send an export every night.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Table
          label="Schedules"
          head={[
            { label: "Name" },
            { label: "Due", className: "hidden md:table-cell" },
            { label: "Next run" },
            { label: "Last run", className: "hidden sm:table-cell" },
            { label: <span className="sr-only">Actions</span> },
          ]}
        >
          {rows.map((one) => (
            <ScheduleRow key={one.id} schedule={one} onShow={() => setShown(one.id)} />
          ))}
        </Table>
      )}
      {shown && <ScheduleDetail id={shown} onClose={() => setShown(null)} />}
      {adding && (
        <ScheduleEditor
          onClose={() => setAdding(false)}
          onSaved={() => {
            setAdding(false);
            void queries.invalidateQueries({ queryKey: ["schedules"] });
          }}
        />
      )}
    </Page>
  );
}

function ScheduleRow({ schedule, onShow }: { schedule: Schedule; onShow: () => void }) {
  const kind = KINDS[String(schedule.action.kind)] ?? String(schedule.action.kind);
  const last = schedule.lastRun;
  return (
    <tr>
      <td className="max-w-36 sm:max-w-80">
        <span className="font-medium">{schedule.name}</span>
        <span className="block truncate text-xs text-ink-3">
          {[kind, aboutAction(schedule.action)].filter(Boolean).join(" · ")}
        </span>
      </td>
      <td className="hidden md:table-cell">
        {schedule.cron ? (
          <span className="font-mono text-xs">{schedule.cron}</span>
        ) : (
          <Time at={schedule.at ?? null} />
        )}
        <span className="block text-xs text-ink-3">{schedule.timeZone}</span>
      </td>
      <td className="whitespace-nowrap">
        {schedule.state === "active" ? (
          <Time at={schedule.nextAt ?? null} />
        ) : (
          <Badge tone={schedule.state === "paused" ? "paused" : "skipped"}>{schedule.state}</Badge>
        )}
      </td>
      <td className="hidden whitespace-nowrap sm:table-cell">
        {last ? (
          <Badge tone={RUN_TONES[last.state]}>{last.state}</Badge>
        ) : (
          <span className="text-ink-3">none</span>
        )}
      </td>
      <td className="text-right">
        <Button size="sm" onClick={onShow} aria-label={`Show ${schedule.name}`}>
          Show
        </Button>
      </td>
    </tr>
  );
}
