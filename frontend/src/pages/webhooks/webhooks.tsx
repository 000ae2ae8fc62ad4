import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Webhook as Hook, KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Field, Input } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { Page } from "../../components/page";
import { Secret } from "../../components/secret";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useCanWrite } from "../../lib/session";
import { EndpointDrawer } from "./endpoint";
import { words } from "./words";

/** Where events are sent, and what became of them. */
export default function Webhooks() {
  const search = useSearch({ from: "/inside/webhooks" });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const [adding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [ofRequests, setOfRequests] = useState<string | null>(null);
  const showOfRequests = async (rotate: boolean) =>
    setOfRequests((await ok(client.POST("/api/webhooks/request-secret", { body: { rotate } }))).secret);
  const hooks = useInfiniteQuery({
    queryKey: ["webhooks", "list"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/webhooks", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = hooks.data?.pages.flatMap((page) => page.items) ?? [];
  const show = (id?: string) =>
    void navigate({ to: "/webhooks", search: id ? { endpoint: id } : {}, replace: true });
  const add = async (form: FormData) => {
    const made = await ok(
      client.POST("/api/webhooks", {
        body: {
          url: String(form.get("url")),
          description: String(form.get("description") ?? ""),
          events: words(String(form.get("events") ?? "")),
          enabled: true,
        },
      }),
    );
    setAdding(false);
    setSecret(made.secret);
    void queries.invalidateQueries({ queryKey: ["webhooks"] });
  };
  return (
    <Page
      title="Webhooks"
      lead="Signed messages to your own systems, each tried five times."
      actions={
        canWrite && (
          <>
            <Button
              onClick={() =>
                void showOfRequests(false).catch((problem: Error) => toast.error(problem.message))
              }
            >
              <KeyRound aria-hidden /> Secret of requests
            </Button>
            <Button look="primary" onClick={() => setAdding(true)}>
              <Plus aria-hidden /> New endpoint
            </Button>
          </>
        )
      }
    >
      <List
        query={hooks}
        rows={rows.length}
        empty={
          <EmptyState icon={Hook} title="No endpoints yet">
            Penstock posts a message to this address when jobs start, end or fail. Messages are signed as
            Standard Webhooks, so that your system can verify them.
          </EmptyState>
        }
      >
        <Table
          label="Endpoints"
          head={[
            { label: "Address" },
            { label: "State" },
            { label: "Events", className: "hidden md:table-cell" },
            { label: "Created", className: "hidden sm:table-cell" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id} className="relative hover:bg-hover">
              <td className="w-1/2 max-w-0 truncate">
                <button
                  type="button"
                  className="max-w-full truncate text-left font-medium after:absolute after:inset-0"
                  onClick={() => show(one.id)}
                >
                  {one.url}
                </button>
                {one.description && (
                  <span className="block truncate text-xs text-ink-3">{one.description}</span>
                )}
              </td>
              <td>
                <Badge tone={one.enabled ? "done" : "skipped"}>{one.enabled ? "on" : "off"}</Badge>
              </td>
              <td className="hidden max-w-60 truncate text-ink-2 md:table-cell">{one.events.join(", ")}</td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.createdAt} />
              </td>
            </tr>
          ))}
        </Table>
      </List>
      {search.endpoint && (
        <EndpointDrawer
          id={search.endpoint}
          canWrite={canWrite}
          onClose={() => show()}
          onSecret={setSecret}
        />
      )}
      {adding && (
        <FormDialog title="New endpoint" action="Create" onClose={() => setAdding(false)} onSave={add}>
          <Field label="Address" hint="Must be https and public, unless the server allows other addresses.">
            {(ids) => (
              <Input {...ids} name="url" type="url" required placeholder="https://example.com/hooks" />
            )}
          </Field>
          <Field label="Description">{(ids) => <Input {...ids} name="description" maxLength={200} />}</Field>
          <Field label="Events" hint="Separated by spaces; * matches all, such as job.* or job.completed">
            {(ids) => <Input {...ids} name="events" defaultValue="job.completed job.failed" required />}
          </Field>
        </FormDialog>
      )}
      {ofRequests && (
        <Secret
          title="The secret of requests"
          value={ofRequests}
          note="It signs what is sent to the webhookUrl of a request and to the address of an export."
          onClose={() => setOfRequests(null)}
          onRotate={() => showOfRequests(true)}
        />
      )}
      {secret && (
        <Secret
          title="The signing secret"
          value={secret}
          note="Your system verifies signatures with it. It is shown only once."
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  );
}
