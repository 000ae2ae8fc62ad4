import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { Bell, BellOff, CircleCheck, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { Card } from "../../components/page";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";

type Alert = Schemas["AlertShape"];

/** Problems that the monitor found, open ones first. */
export function Alerts() {
  const queries = useQueryClient();
  const [silencing, setSilencing] = useState<Alert | null>(null);
  const alerts = useQuery({
    queryKey: ["monitor", "alerts"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/monitor/alerts", { params: { query: { pageSize: 20 } }, signal })),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });
  const rows = [...(alerts.data?.items ?? [])].sort(
    (a, b) => Number(a.resolvedAt !== null) - Number(b.resolvedAt !== null),
  );
  const { busy, error, attempt } = useAttempt();
  const silence = async (alert: Alert, minutes: number, reason: string) => {
    const params = { path: { alert_id: alert.id } };
    await ok(client.POST("/api/monitor/alerts/{alert_id}/silence", { params, body: { minutes, reason } }));
    void queries.invalidateQueries({ queryKey: ["monitor", "alerts"] });
  };
  return (
    <section>
      <h2 id="alerts" className="mb-2 text-base font-semibold">
        Alerts
      </h2>
      {alerts.error && <ErrorNote error={alerts.error} className="mb-2" />}
      {error !== null && <ErrorNote error={error} className="mb-2" />}
      <Card className="overflow-hidden">
        {rows.length === 0 ? (
          <p className="px-4 py-3 text-sm text-ink-2">None so far.</p>
        ) : (
          <Table
            label="Alerts"
            head={[
              { label: "State" },
              { label: "Problem" },
              { label: "Opened", className: "hidden sm:table-cell" },
              { label: <span className="sr-only">Actions</span> },
            ]}
          >
            {rows.map((one) => (
              <tr key={one.id}>
                <td>
                  <Badge tone={one.resolvedAt ? "done" : one.severity === "critical" ? "error" : "not-found"}>
                    {one.resolvedAt ? (
                      <CircleCheck className="size-3" aria-hidden />
                    ) : (
                      <TriangleAlert className="size-3" aria-hidden />
                    )}
                    {one.resolvedAt ? "Resolved" : one.severity === "critical" ? "Critical" : "Warning"}
                  </Badge>
                </td>
                <td>
                  <span className="block">{one.message}</span>
                  <span className="text-xs text-ink-2">
                    <Runbook href={one.runbook} />
                    {one.silencedUntil && (
                      <>
                        {" "}
                        · silenced, ends <Time at={one.silencedUntil} />
                        {one.silenceReason && ` (${one.silenceReason})`}
                      </>
                    )}
                  </span>
                </td>
                <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                  <Time at={one.openedAt} />
                </td>
                <td className="text-right">
                  {one.resolvedAt === null ? (
                    <Button size="sm" aria-label="Silence" onClick={() => setSilencing(one)}>
                      <BellOff aria-hidden /> <span className="hidden sm:inline">Silence</span>
                    </Button>
                  ) : (
                    one.silencedUntil && (
                      <Button size="sm" busy={busy} onClick={() => void attempt(() => silence(one, 0, ""))}>
                        {!busy && <Bell aria-hidden />} End silence
                      </Button>
                    )
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
      {silencing && (
        <FormDialog
          title="Silence this alert"
          description={`Nothing is sent about this check for this time, also if it fails again: ${silencing.message}`}
          action="Silence"
          onClose={() => setSilencing(null)}
          onSave={async (form) => {
            await silence(silencing, Number(form.get("minutes")), String(form.get("reason") ?? ""));
            setSilencing(null);
          }}
        >
          <Field label="For">
            {(ids) => (
              <Select {...ids} name="minutes" defaultValue="60">
                <option value="60">1 hour</option>
                <option value="480">8 hours</option>
                <option value="1440">1 day</option>
                <option value="10080">1 week</option>
                <option value="0">Not silenced</option>
              </Select>
            )}
          </Field>
          <Field label="Reason">{(ids) => <Input {...ids} name="reason" maxLength={500} />}</Field>
        </FormDialog>
      )}
    </section>
  );
}

/** A link if the runbook has an address, else where it is. */
export function Runbook({ href }: { href: string }) {
  return /^(https?:|\/)/.test(href) ? (
    <a href={href} className="plain-link" target="_blank" rel="noreferrer">
      Runbook
    </a>
  ) : (
    <span className="font-mono">{href}</span>
  );
}
