import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Input, Select, Textarea } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { client, ok } from "../../lib/api";
import { KINDS, timeZones } from "../../lib/schedules";

const EXAMPLES: Record<string, string> = {
  crawl: '{"companies": [{"company": "acme", "sitemap": "https://acme.example/sitemap.xml"}]}',
  export: '{"what": "products", "format": "csv", "to": {"url": "https://example.com/upload"}}',
};
const OFTEN = [
  ["0 6 * * *", "every day at 6:00"],
  ["0 6 * * MON-FRI", "every working day at 6:00"],
  ["0 * * * *", "every hour"],
  ["*/15 * * * *", "every 15 minutes"],
  ["0 5 * * MON", "every Monday at 5:00"],
  ["0 5 1 * *", "on the first day of each month at 5:00"],
] as const;

/** A new schedule, with its next runs as the cron expression is written. */
export function ScheduleEditor({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) {
  const [kind, setKind] = useState("file");
  const [cron, setCron] = useState("0 6 * * *");
  const [zone, setZone] = useState(timeZones()[0] ?? "UTC");
  const save = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    await ok(
      client.POST("/api/schedules", {
        body: {
          name: text("name"),
          cron,
          timeZone: zone,
          catchUp: text("catchUp") as "once" | "all" | "none",
          action: actionOf(kind, text),
        },
      }),
    );
    onSaved();
  };
  return (
    <FormDialog title="New schedule" action="Create" onClose={onClose} onSave={save}>
      <Field label="Name">{(ids) => <Input {...ids} name="name" required maxLength={100} />}</Field>
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
      <ActionFields kind={kind} />
      <Field label="How often" hint={<NextRuns cron={cron} zone={zone} />}>
        {(ids) => (
          <Input
            {...ids}
            value={cron}
            list="often"
            required
            maxLength={200}
            spellCheck={false}
            className="font-mono"
            onChange={(event) => setCron(event.target.value)}
          />
        )}
      </Field>
      <datalist id="often">
        {OFTEN.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </datalist>
      <Field label="Time zone">
        {(ids) => (
          <Select {...ids} value={zone} onChange={(event) => setZone(event.target.value)}>
            {timeZones().map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Missed runs" hint="If no process ran at the due time.">
        {(ids) => (
          <Select {...ids} name="catchUp" defaultValue="once">
            <option value="once">run the newest one</option>
            <option value="all">run all of them</option>
            <option value="none">leave them out</option>
          </Select>
        )}
      </Field>
    </FormDialog>
  );
}

function ActionFields({ kind }: { kind: string }) {
  switch (kind) {
    case "file":
      return (
        <>
          <Field label="Address of the file">
            {(ids) => <Input {...ids} name="url" type="url" required maxLength={2000} />}
          </Field>
          <Field label="Profile (optional)">
            {(ids) => <Input {...ids} name="profile" maxLength={100} />}
          </Field>
        </>
      );
    case "shop":
      return <Connections />;
    case "research":
      return <Field label="Query">{(ids) => <Input {...ids} name="query" required maxLength={500} />}</Field>;
    case "scan":
      return <p className="text-sm text-ink-2">All watched places of your org are scanned.</p>;
    default:
      return (
        <Field label="Action" hint="As JSON; docs/howto/schedule.md lists the fields.">
          {(ids) => (
            <Textarea
              {...ids}
              key={kind}
              name="json"
              required
              spellCheck={false}
              className="font-mono text-xs"
              defaultValue={EXAMPLES[kind]}
            />
          )}
        </Field>
      );
  }
}

function Connections() {
  const found = useQuery({
    queryKey: ["connections", "of schedules"],
    queryFn: async ({ signal }) => (await ok(client.GET("/api/connections", { signal }))).items,
  });
  return (
    <Field label="Shop" hint="What changed since the last import is imported.">
      {(ids) => (
        <Select {...ids} name="connectionId" required>
          {(found.data ?? []).map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function actionOf(kind: string, text: (name: string) => string): Record<string, unknown> {
  switch (kind) {
    case "file":
      return { kind, url: text("url"), ...(text("profile") ? { profile: text("profile") } : {}) };
    case "shop":
      return { kind, connectionId: text("connectionId") };
    case "research":
      return { kind, query: text("query") };
    case "scan":
      return { kind };
    default:
      return { kind, ...(JSON.parse(text("json")) as Record<string, unknown>) };
  }
}

function NextRuns({ cron, zone }: { cron: string; zone: string }) {
  const found = useQuery({
    queryKey: ["next runs", cron, zone],
    queryFn: ({ signal }) =>
      ok(client.POST("/api/schedules/next-runs", { body: { cron, timeZone: zone }, signal })),
    enabled: cron.trim() !== "",
    retry: false,
    staleTime: 60_000,
  });
  if (found.error) return <span className="text-error">{found.error.message}</span>;
  if (!found.data) return <>Minute, hour, day of month, month, day of week.</>;
  const shown = new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: zone,
  });
  const times = found.data.nextRuns.slice(0, 3).map((one) => shown.format(new Date(one)));
  return <>Next: {times.join(" · ")}</>;
}
