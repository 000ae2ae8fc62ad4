import { useState } from "react";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { client, ok } from "../../lib/api";
import { KINDS, type Schedule, timeZones } from "../../lib/schedules";
import { ActionFields, actionOf } from "./action-fields";
import { HowOftenFields } from "./how-often-fields";

interface Props {
  /** The one to change; none: a new one. */
  schedule?: Schedule;
  onClose: () => void;
  onSaved: () => void;
}

/** A schedule, with its next runs as the cron expression is written. */
export function ScheduleEditor({ schedule, onClose, onSaved }: Props) {
  const [kind, setKind] = useState(String(schedule?.action.kind ?? "file"));
  const [once, setOnce] = useState(schedule?.cron === null);
  const [cron, setCron] = useState(schedule?.cron ?? "0 6 * * *");
  const [zone, setZone] = useState(schedule?.timeZone ?? timeZones()[0] ?? "UTC");
  const save = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const body = {
      name: text("name"),
      ...(once ? { at: new Date(text("at")).toISOString() } : { cron }),
      timeZone: zone,
      catchUp: text("catchUp") as Schedule["catchUp"],
      pauseAfter: Number(text("pauseAfter")),
      action: actionOf(kind, text, schedule?.action),
    };
    if (schedule) {
      const params = { path: { schedule_id: schedule.id } };
      await ok(client.PUT("/api/schedules/{schedule_id}", { params, body }));
    } else {
      await ok(client.POST("/api/schedules", { body }));
    }
    onSaved();
  };
  return (
    <FormDialog
      title={schedule ? `Edit ${schedule.name}` : "New schedule"}
      action={schedule ? "Save" : "Create"}
      onClose={onClose}
      onSave={save}
    >
      <Field label="Name">
        {(ids) => <Input {...ids} name="name" required maxLength={100} defaultValue={schedule?.name} />}
      </Field>
      <Field label="What it does">
        {(ids) => (
          <Select {...ids} value={kind} onChange={(event) => setKind(event.target.value)}>
            {Object.entries(KINDS).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <ActionFields key={kind} kind={kind} action={schedule?.action} />
      <Field label="Runs">
        {(ids) => (
          <Select
            {...ids}
            value={once ? "once" : "often"}
            onChange={(event) => setOnce(event.target.value === "once")}
          >
            <option value="often">Repeatedly</option>
            <option value="once">Once</option>
          </Select>
        )}
      </Field>
      {once ? (
        <Field label="When" hint="In the time zone of this browser.">
          {(ids) => (
            <Input {...ids} name="at" type="datetime-local" required defaultValue={localTime(schedule?.at)} />
          )}
        </Field>
      ) : (
        <HowOftenFields cron={cron} zone={zone} onCron={setCron} onZone={setZone} />
      )}
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Missed runs" hint="If no process ran at the due time.">
          {(ids) => (
            <Select {...ids} name="catchUp" defaultValue={schedule?.catchUp ?? "once"}>
              <option value="once">run the newest one</option>
              <option value="all">run all of them</option>
              <option value="none">leave them out</option>
            </Select>
          )}
        </Field>
        <Field label="Pause after failures" hint="So many in a row; 0: never.">
          {(ids) => (
            <Input
              {...ids}
              name="pauseAfter"
              type="number"
              min={0}
              max={1000}
              required
              defaultValue={schedule?.pauseAfter ?? 5}
            />
          )}
        </Field>
      </div>
    </FormDialog>
  );
}

/** A time as an input of the browser takes it. */
function localTime(at: string | null | undefined): string | undefined {
  if (!at) return undefined;
  const time = new Date(at);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
