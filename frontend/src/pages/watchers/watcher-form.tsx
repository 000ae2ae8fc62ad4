import { useState } from "react";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { ImportFields, importConfig } from "../../components/import-fields";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { randomId } from "../../lib/random";
import { CHOICES, credentialsOf, KINDS, THEN, type Watcher, type WatcherKind } from "../../lib/watchers";
import { CredentialFields, Untested } from "./credentials";

interface Props {
  /** The one to change; none: a new one. */
  watcher?: Watcher;
  onClose: () => void;
  onSaved: () => void;
}

/** A place to watch. A new one is tested first; the place of one that exists cannot change. */
export function WatcherForm({ watcher, onClose, onSaved }: Props) {
  const [kind, setKind] = useState<WatcherKind>(watcher?.kind ?? "folder");
  const save = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const task = taskOf(form, watcher);
    if (watcher) {
      const params = { path: { watcher_id: watcher.id } };
      await ok(client.PATCH("/api/watchers/{watcher_id}", { params, body: task }));
      toast.success(`${task.name} is saved`);
      onSaved();
      return;
    }
    const made = await ok(
      client.POST("/api/watchers", {
        headers: { "Idempotency-Key": `ui-${randomId()}` },
        body: {
          ...task,
          name: task.name || text("address"),
          kind,
          address: text("address"),
          credentials: credentialsOf(kind, form),
          enabled: true,
          test: form.get("untested") === null,
        },
      }),
    );
    toast.success(`${made.name} is watched`);
    onSaved();
  };
  return (
    <FormDialog
      title={watcher ? `Edit ${watcher.name}` : "New watcher"}
      description={watcher ? `${KINDS[kind].title} · ${watcher.address}` : undefined}
      action={watcher ? "Save" : "Test and create"}
      onClose={onClose}
      onSave={save}
    >
      {!watcher && <PlaceFields kind={kind} onKind={setKind} />}
      <Field label={watcher ? "Name" : "Name (optional)"}>
        {(ids) => (
          <Input {...ids} name="name" required={!!watcher} maxLength={200} defaultValue={watcher?.name} />
        )}
      </Field>
      <TaskFields watcher={watcher} kind={kind} />
      {!watcher && <Untested />}
    </FormDialog>
  );
}

function PlaceFields({ kind, onKind }: { kind: WatcherKind; onKind: (kind: WatcherKind) => void }) {
  return (
    <>
      <Field label="Kind of place">
        {(ids) => (
          <Select {...ids} value={kind} onChange={(event) => onKind(event.target.value as WatcherKind)}>
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
    </>
  );
}

/** Which files are taken, when, and what becomes of them. */
function TaskFields({ watcher, kind }: { watcher?: Watcher; kind: WatcherKind }) {
  const after = kind === "imap" ? { keep: THEN.keep } : THEN;
  return (
    <>
      <Field label="Files" hint="Patterns, separated by commas. ** stands for any folders.">
        {(ids) => (
          <Input
            {...ids}
            name="pattern"
            required
            defaultValue={watcher?.pattern ?? "*.csv, *.xlsx"}
            maxLength={500}
          />
        )}
      </Field>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="Complete when">
          {(ids) => (
            <Select {...ids} name="completeBy" defaultValue={watcher?.completeBy}>
              <option value="unchanged">Unchanged for a while</option>
              <option value="marker">NAME.done is there</option>
            </Select>
          )}
        </Field>
        <Field label="Taken files">
          {(ids) => <Select {...ids} name="then" defaultValue={watcher?.then} children={options(after)} />}
        </Field>
        <ImportFields given={watcher?.job} />
        <Field label="Seconds between scans" hint="Empty: only on request.">
          {(ids) => (
            <Input
              {...ids}
              name="everySeconds"
              type="number"
              min={1}
              max={86400}
              defaultValue={watcher ? (watcher.everySeconds ?? "") : 60}
            />
          )}
        </Field>
      </div>
    </>
  );
}

function options(labels: Record<string, string>) {
  return Object.entries(labels).map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

/** What the form says; other settings of the watcher's job stay as they are. */
function taskOf(form: FormData, watcher?: Watcher) {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const config = importConfig(text, watcher?.job.config);
  return {
    name: text("name"),
    pattern: text("pattern"),
    // biome-ignore lint/suspicious/noThenProperty: the name in the API
    then: text("then") as Watcher["then"],
    completeBy: text("completeBy") as Watcher["completeBy"],
    everySeconds: text("everySeconds") ? Number(text("everySeconds")) : null,
    job: { pipeline: watcher?.job.pipeline ?? "extraction", config, profile: text("profile") || null },
  };
}
