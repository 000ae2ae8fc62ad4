import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { randomId } from "../../lib/random";
import { CHOICES, credentialsOf, KINDS, THEN, type Watcher, type WatcherKind } from "../../lib/watchers";
import { CredentialFields } from "./credentials";

const INTENTS = {
  check: "Check only",
  create: "Create new products",
  update: "Update known products",
  merge: "Create and update",
  replace: "Replace known products",
} as const;

/** A new place to watch; it is tested at once. */
export function NewWatcher({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [kind, setKind] = useState<WatcherKind>("folder");
  const profiles = useQuery({
    queryKey: ["profiles", "names"],
    queryFn: ({ signal }) => ok(client.GET("/api/profiles", { signal })),
  });
  const add = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const config: Record<string, unknown> = { intent: text("intent") };
    if (text("source")) config.source = text("source");
    const made = await ok(
      client.POST("/api/watchers", {
        headers: { "Idempotency-Key": `ui-${randomId()}` },
        body: {
          name: text("name") || text("address"),
          kind,
          address: text("address"),
          credentials: credentialsOf(kind, form),
          pattern: text("pattern"),
          // biome-ignore lint/suspicious/noThenProperty: the name in the API
          then: text("then") as Watcher["then"],
          completeBy: text("completeBy") as Watcher["completeBy"],
          job: { pipeline: "extraction", config, profile: text("profile") || null },
          enabled: true,
        },
      }),
    );
    const params = { path: { watcher_id: made.id } };
    const tested = await ok(client.POST("/api/watchers/{watcher_id}/test", { params }));
    if (tested.error) toast.error(tested.error.message);
    else toast.success(`${made.name} is watched`);
    onMade();
  };
  return (
    <FormDialog title="New watcher" action="Create and test" onClose={onClose} onSave={add}>
      <Field label="Kind of place">
        {(ids) => (
          <Select {...ids} value={kind} onChange={(event) => setKind(event.target.value as WatcherKind)}>
            {CHOICES.map((one) => (
              <option key={one} value={one}>
                {KINDS[one].title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label="Address"
        hint={
          kind === "folder" ? "Below a folder that the server allows." : "Public, or allowed by the server."
        }
      >
        {(ids) => (
          <Input {...ids} name="address" required maxLength={1000} placeholder={KINDS[kind].example} />
        )}
      </Field>
      <CredentialFields kind={kind} />
      <Field label="Name (optional)">{(ids) => <Input {...ids} name="name" maxLength={200} />}</Field>
      <Field label="Files" hint="Patterns, separated by commas. ** stands for any folders.">
        {(ids) => <Input {...ids} name="pattern" required defaultValue="*.csv, *.xlsx" maxLength={500} />}
      </Field>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Complete when">
          {(ids) => (
            <Select {...ids} name="completeBy">
              <option value="unchanged">Unchanged for a while</option>
              <option value="marker">NAME.done is there</option>
            </Select>
          )}
        </Field>
        <Field label="Taken files">
          {(ids) => (
            <Select {...ids} name="then">
              {Object.entries(THEN).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Profile">
          {(ids) => (
            <Select {...ids} name="profile">
              <option value="">Detect columns</option>
              {(profiles.data?.items ?? []).map((one) => (
                <option key={one.name} value={one.name}>
                  {one.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Products">
          {(ids) => (
            <Select {...ids} name="intent">
              {Object.entries(INTENTS).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <Field label="Source (optional)" hint="Where the products come from, such as the supplier's name.">
        {(ids) => <Input {...ids} name="source" maxLength={100} />}
      </Field>
    </FormDialog>
  );
}
