import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { RowsSkeleton } from "../../components/skeleton";
import { Table } from "../../components/table";
import { toast } from "../../components/toast";
import { client, ok, type Schemas } from "../../lib/api";
import { count } from "../../lib/format";
import { retentionQuery } from "../../lib/schedules";
import { useSession } from "../../lib/session";

type Kind = keyof Schemas["RetentionPolicy"];
const KINDS: [Kind, string, string][] = [
  ["jobs", "Jobs", "The job with all its parts"],
  ["items", "Rows", "Rows and results; counters stay"],
  ["events", "Events", "The history of a job"],
  ["files", "Files", "What was uploaded"],
  ["searches", "Searches", "What lookups searched for"],
  ["changes", "Undo data", "Earlier versions of products; without them a job cannot be undone"],
  ["pages", "Old pages", "Versions of crawled pages except the newest"],
  ["deliveries", "Webhook log", "Deliveries of webhooks"],
  ["doneImports", "Finished shop imports", "For each shop"],
  ["failedImports", "Failed shop imports", "For each shop"],
];

function shown(kind: Kind, value: number): string {
  if (kind.endsWith("Imports")) return value ? `the last ${count(value)}` : "all";
  return value ? `${value} days` : "forever";
}

/** How long the org keeps things. Admins change it. */
export default function Retention() {
  const queries = useQueryClient();
  const admin = useSession().user.role === "admin";
  const found = useQuery(retentionQuery);
  const [asking, setAsking] = useState<"edit" | "count" | null>(null);
  const save = async (form: FormData) => {
    const body = Object.fromEntries(
      KINDS.map(([kind]) => {
        const text = String(form.get(kind) ?? "").trim();
        return [kind, text === "" ? null : Number(text)];
      }),
    );
    await ok(client.PUT("/api/retention", { body }));
    toast.success("The retention is changed");
    setAsking(null);
    void queries.invalidateQueries({ queryKey: ["retention"] });
  };
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-sm text-ink-2">
          Older data is deleted in the background. Days count from the end of a job.
        </p>
        {admin && (
          <>
            <Button onClick={() => setAsking("count")}>What would be deleted</Button>
            <Button look="primary" onClick={() => setAsking("edit")}>
              Change
            </Button>
          </>
        )}
      </div>
      {found.error && <ErrorNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && <RowsSkeleton rows={8} />}
      {found.data && (
        <Table
          label="Retention"
          head={[
            { label: "Kind" },
            { label: "Kept" },
            { label: "Set by", className: "hidden sm:table-cell" },
          ]}
        >
          {KINDS.map(([kind, label, about]) => (
            <tr key={kind}>
              <td>
                <span className="font-medium">{label}</span>
                <span className="block text-xs text-ink-3">{about}</span>
              </td>
              <td className="whitespace-nowrap">{shown(kind, found.data.effective[kind] ?? 0)}</td>
              <td className="hidden text-ink-2 sm:table-cell">
                {found.data.overrides[kind] == null ? "the installation" : found.data.org}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {asking === "edit" && found.data && (
        <FormDialog
          title="Change the retention"
          description="Empty: the setting of the installation. 0: kept forever."
          action="Save"
          onClose={() => setAsking(null)}
          onSave={save}
        >
          <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
            {KINDS.map(([kind, label]) => (
              <Field key={kind} label={kind.endsWith("Imports") ? label : `${label} (days)`}>
                {(ids) => (
                  <Input
                    {...ids}
                    name={kind}
                    type="number"
                    min={0}
                    max={36500}
                    defaultValue={found.data.overrides[kind] ?? ""}
                    placeholder={String(found.data.installation[kind] ?? "")}
                  />
                )}
              </Field>
            ))}
          </div>
        </FormDialog>
      )}
      {asking === "count" && <DryRun onClose={() => setAsking(null)} />}
    </>
  );
}

function DryRun({ onClose }: { onClose: () => void }) {
  const found = useQuery({
    queryKey: ["retention", "dry run"],
    queryFn: ({ signal }) => ok(client.POST("/api/retention/prune", { body: { dryRun: true }, signal })),
    staleTime: 0,
  });
  const rows = Object.entries(found.data?.deleted ?? {}).filter(([, number]) => number > 0);
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="What would be deleted now"
      description="Of all orgs. Nothing is deleted."
    >
      <div className="pb-3 text-sm">
        {found.error && <ErrorNote error={found.error} />}
        {found.isPending && <RowsSkeleton rows={3} />}
        {found.data && rows.length === 0 && <p>Nothing is old enough.</p>}
        <dl className="grid grid-cols-2 gap-1 empty:hidden">
          {rows.map(([kind, number]) => (
            <div key={kind} className="contents">
              <dt>{kind}</dt>
              <dd className="text-right tabular-nums">{count(number)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
