import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Bell, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { Card } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { useCanWrite, useSession } from "../../lib/session";

type Target = Schemas["TargetShape"];
const KINDS: Record<Target["kind"], string> = {
  slack: "Slack",
  webhook: "Webhook",
  pagerduty: "PagerDuty",
  email: "E-mail",
};

/** Where alerts and events are sent to, and your own e-mails. */
export default function Notifications() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const admin = useSession().user.role === "admin";
  const [adding, setAdding] = useState(false);
  const [deleting, setDeleting] = useState<Target | null>(null);
  const [error, setError] = useState<unknown>(null);
  const targets = useQuery({
    queryKey: ["notifications"],
    queryFn: ({ signal }) => ok(client.GET("/api/notifications", { signal })),
  });
  const refresh = () => void queries.invalidateQueries({ queryKey: ["notifications"] });
  const add = async (form: FormData) => {
    await ok(
      client.POST("/api/notifications", {
        body: {
          kind: String(form.get("kind")) as Target["kind"],
          address: String(form.get("address")),
          name: String(form.get("name") ?? ""),
          installation: form.get("installation") === "yes",
        },
      }),
    );
    setAdding(false);
    refresh();
  };
  const test = async (target: Target) => {
    setError(null);
    try {
      await ok(
        client.POST("/api/notifications/{notification_id}/test", {
          params: { path: { notification_id: target.id } },
        }),
      );
      refresh();
    } catch (problem) {
      setError(problem);
    }
  };
  const rows = targets.data?.items ?? [];
  return (
    <div className="space-y-5">
      <JobMails />
      <section aria-labelledby="targets">
        <div className="mb-2 flex items-center">
          <h2 id="targets" className="mr-auto text-base font-semibold">
            Targets
          </h2>
          {canWrite && (
            <Button look="primary" onClick={() => setAdding(true)}>
              <Plus aria-hidden /> New target
            </Button>
          )}
        </div>
        {(targets.error ?? error) !== null && <ErrorNote error={targets.error ?? error} className="mb-2" />}
        {targets.isPending ? (
          <RowsSkeleton />
        ) : rows.length === 0 ? (
          <EmptyState icon={Bell} title="No targets yet">
            Alerts of the installation and events of jobs can be sent to Slack, PagerDuty, e-mail or any
            webhook.
          </EmptyState>
        ) : (
          <Card className="overflow-hidden">
            <Table
              label="Targets"
              head={[
                { label: "Target" },
                { label: "Gets", className: "hidden md:table-cell" },
                { label: "State" },
                { label: <span className="sr-only">Actions</span> },
              ]}
            >
              {rows.map((one) => (
                <tr key={one.id}>
                  <td>
                    <span className="block font-medium">{one.name}</span>
                    <span className="text-xs text-ink-2">
                      {KINDS[one.kind]} · {one.address} · {one.installation ? "installation" : one.org}
                    </span>
                  </td>
                  <td className="hidden text-ink-2 md:table-cell">
                    {[...one.severities, ...one.events].join(", ")}
                  </td>
                  <td>
                    <Badge tone={one.enabled ? "done" : "skipped"}>{one.enabled ? "on" : "off"}</Badge>
                  </td>
                  <td className="space-x-2 text-right whitespace-nowrap">
                    {canWrite && (
                      <>
                        <Button size="sm" onClick={() => void test(one)}>
                          Test
                        </Button>
                        <Button size="sm" look="quiet" onClick={() => setDeleting(one)}>
                          Delete
                        </Button>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          </Card>
        )}
      </section>
      <Log />
      {adding && (
        <FormDialog title="New target" action="Add" onClose={() => setAdding(false)} onSave={add}>
          <Field label="Kind">
            {(ids) => (
              <Select {...ids} name="kind" defaultValue="slack">
                {Object.entries(KINDS).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field
            label="Address"
            hint="The URL of the webhook, the integration key of PagerDuty, or an e-mail address. It is not shown again."
          >
            {(ids) => <Input {...ids} name="address" required maxLength={4096} />}
          </Field>
          <Field label="Name">{(ids) => <Input {...ids} name="name" maxLength={200} />}</Field>
          <Field label="Gets">
            {(ids) => (
              <Select {...ids} name="installation" defaultValue={admin ? "yes" : "no"}>
                {admin && <option value="yes">Alerts of the installation</option>}
                <option value="no">Jobs of my org that fail</option>
              </Select>
            )}
          </Field>
        </FormDialog>
      )}
      {deleting && (
        <Confirm
          open
          onOpenChange={() => setDeleting(null)}
          title="Delete this target?"
          action="Delete"
          danger
          onConfirm={async () => {
            await ok(
              client.DELETE("/api/notifications/{notification_id}", {
                params: { path: { notification_id: deleting.id } },
              }),
            );
            setDeleting(null);
            refresh();
          }}
        >
          Nothing more is sent to “{deleting.name}”.
        </Confirm>
      )}
    </div>
  );
}

function JobMails() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const mails = useQuery({
    queryKey: ["notifications", "me"],
    queryFn: ({ signal }) => ok(client.GET("/api/notifications/me", { signal })),
  });
  const { error, attempt } = useAttempt();
  const change = (jobs: string) =>
    attempt(async () => {
      await ok(client.PUT("/api/notifications/me", { body: { jobs: jobs as Schemas["JobMails"]["jobs"] } }));
      void queries.invalidateQueries({ queryKey: ["notifications", "me"] });
    });
  return (
    <Field
      label="E-mail me when"
      hint="Goes to the address of your account."
      error={error ? (error as Error).message : undefined}
    >
      {(ids) => (
        <Select
          {...ids}
          className="max-w-64"
          value={mails.data?.jobs ?? "none"}
          disabled={!canWrite || mails.isPending}
          onChange={(event) => void change(event.target.value)}
        >
          <option value="none">Never</option>
          <option value="failed">One of my jobs fails</option>
          <option value="all">One of my jobs ends</option>
        </Select>
      )}
    </Field>
  );
}

function Log() {
  const log = useQuery({
    queryKey: ["notifications", "log"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/notifications/log", { params: { query: { pageSize: 20 } }, signal })),
    refetchInterval: 5000,
  });
  const rows = log.data?.items ?? [];
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="sent">
      <h2 id="sent" className="mb-2 text-base font-semibold">
        Latest messages
      </h2>
      <Card className="overflow-hidden">
        <Table
          label="Latest messages"
          head={[
            { label: "Message" },
            { label: "State" },
            { label: "Created", className: "hidden sm:table-cell" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id}>
              <td>
                <span className="block">{one.title}</span>
                <span className="text-xs text-ink-2">
                  {KINDS[one.kind]} {one.target}{" "}
                  {typeof one.error?.message === "string" && `· ${one.error.message}`}
                </span>
              </td>
              <td>
                <Badge tone={one.state === "sent" ? "done" : one.state === "failed" ? "error" : "pending"}>
                  {one.state}
                </Badge>
              </td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      </Card>
    </section>
  );
}
