import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pause, Pencil, Play, Trash2, Zap } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm, Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import {
  aboutAction,
  type FullSchedule,
  KINDS,
  RUN_TONES,
  type ScheduleRun,
  scheduleQuery,
} from "../../lib/schedules";
import { ScheduleEditor } from "./editor";

/** One schedule: its next runs, its newest runs, and what can be done with it. */
export function ScheduleDetail({ id, onClose }: { id: string; onClose: () => void }) {
  const found = useQuery(scheduleQuery(id));
  const schedule = found.data;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={schedule?.name ?? "Schedule"}
      description={
        schedule
          ? [KINDS[String(schedule.action.kind)], aboutAction(schedule.action)].filter(Boolean).join(" · ")
          : undefined
      }
    >
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <RowsSkeleton rows={3} />}
      {schedule && <Body schedule={schedule} onClose={onClose} />}
    </Dialog>
  );
}

function Body({ schedule, onClose }: { schedule: FullSchedule; onClose: () => void }) {
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  const [editing, setEditing] = useState(false);
  const { busy, error, attempt } = useAttempt();
  const path = { params: { path: { schedule_id: schedule.id } } };
  const act = async (change: () => Promise<unknown>, told: string) => {
    await attempt(async () => {
      await change();
      toast.success(told);
      await queries.invalidateQueries({ queryKey: ["schedules"] });
    });
  };
  return (
    <div className="space-y-4 pb-3 text-sm">
      {schedule.pauseReason && (
        <p role="status" className="rounded-md border border-error/30 bg-error-bg px-3 py-2 break-words">
          {schedule.pauseReason}
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
      {schedule.mayChange && (
        <div className="flex flex-wrap gap-2">
          <Button
            size="sm"
            look="primary"
            busy={busy}
            onClick={() =>
              void act(() => ok(client.POST("/api/schedules/{schedule_id}/run", path)), "It runs now")
            }
          >
            <Zap aria-hidden /> Run now
          </Button>
          {schedule.state === "active" && (
            <Button
              size="sm"
              onClick={() =>
                void act(
                  () => ok(client.POST("/api/schedules/{schedule_id}/pause", path)),
                  "The schedule is paused",
                )
              }
            >
              <Pause aria-hidden /> Pause
            </Button>
          )}
          {schedule.state === "paused" && (
            <Button
              size="sm"
              onClick={() =>
                void act(
                  () => ok(client.POST("/api/schedules/{schedule_id}/resume", path)),
                  "The schedule is active",
                )
              }
            >
              <Play aria-hidden /> Resume
            </Button>
          )}
          <Button size="sm" className="ml-auto" onClick={() => setEditing(true)}>
            <Pencil aria-hidden /> Edit
          </Button>
          <Button size="sm" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden /> Delete
          </Button>
        </div>
      )}
      <section aria-label="Next runs">
        <h3 className="font-semibold">Next runs</h3>
        <p className="text-xs text-ink-3">
          <span className="font-mono">{schedule.cron ?? "once"}</span> · {schedule.timeZone} · missed runs:{" "}
          {schedule.catchUp}
        </p>
        <ol className="mt-1 list-inside list-decimal">
          {schedule.nextRuns.map((one) => (
            <li key={one}>
              <Moment at={one} zone={schedule.timeZone} />
            </li>
          ))}
        </ol>
        {schedule.nextRuns.length === 0 && <p className="text-ink-2">None while it is {schedule.state}.</p>}
      </section>
      <section aria-label="Runs">
        <h3 className="font-semibold">Runs</h3>
        {schedule.runs.length === 0 && <p className="text-ink-2">It has not run yet.</p>}
        <ul className="divide-y">
          {schedule.runs.map((one) => (
            <RunLine key={one.dueAt} run={one} zone={schedule.timeZone} />
          ))}
        </ul>
      </section>
      {editing && (
        <ScheduleEditor
          schedule={schedule}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            toast.success("The schedule is saved");
            void queries.invalidateQueries({ queryKey: ["schedules"] });
          }}
        />
      )}
      <Confirm
        open={deleting}
        onOpenChange={() => setDeleting(false)}
        title={`Delete ${schedule.name}?`}
        action="Delete"
        danger
        onConfirm={async () => {
          await ok(client.DELETE("/api/schedules/{schedule_id}", path));
          toast.success("The schedule is deleted");
          onClose();
          void queries.invalidateQueries({ queryKey: ["schedules"] });
        }}
      >
        <p>Jobs of its runs stay.</p>
      </Confirm>
    </div>
  );
}

function RunLine({ run, zone }: { run: ScheduleRun; zone: string }) {
  return (
    <li className="py-1.5">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={RUN_TONES[run.state]}>
          {run.state === "missed" ? `missed ${run.times}` : run.state}
        </Badge>
        <Moment at={run.dueAt} zone={zone} />
        {run.manual && <span className="text-xs text-ink-3">started by a user</span>}
        {run.jobId && (
          <Link
            to="/jobs/$jobId"
            params={{ jobId: run.jobId }}
            className="ml-auto text-accent underline underline-offset-2"
          >
            Job
          </Link>
        )}
      </div>
      {run.error && <p className="text-xs break-words text-error">{run.error.message}</p>}
      {run.endedAt && (
        <p className="text-xs text-ink-3">
          Ended <Time at={run.endedAt} />
        </p>
      )}
    </li>
  );
}

/** A time as the clock of the schedule's zone shows it. */
function Moment({ at, zone }: { at: string; zone: string }) {
  const shown = new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: zone,
  });
  return <time dateTime={at}>{shown.format(new Date(at))}</time>;
}
