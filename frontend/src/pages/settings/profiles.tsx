import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FileCog, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { Drawer } from "../../components/drawer";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Textarea } from "../../components/field";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok, send } from "../../lib/api";
import { useCanWrite } from "../../lib/session";
import { SavedValues } from "./saved-values";

const TOML = "application/toml";

async function save(text: string, name: string): Promise<void> {
  await send(`/api/profiles/${encodeURIComponent(name)}`, {
    method: "PUT",
    headers: { "Content-Type": TOML },
    body: text,
  });
}

/** What was learnt of suppliers' files. As text, so that it can be kept beside other things. */
export default function Profiles() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const picker = useRef<HTMLInputElement>(null);
  const [open, setOpen] = useState<string | null>(null);
  const [gone, setGone] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const profiles = useQuery({
    queryKey: ["profiles"],
    queryFn: ({ signal }) => ok(client.GET("/api/profiles", { signal })),
  });
  const again = () => void queries.invalidateQueries({ queryKey: ["profiles"] });
  const bring = async (file: File) => {
    setError(null);
    try {
      const text = await file.text();
      const name = /^\s*name\s*=\s*"([^"]+)"/m.exec(text)?.[1] ?? file.name.replace(/\.toml$/i, "");
      await save(text, name);
      toast.success(`Profile ${name} is saved`);
      again();
    } catch (problem) {
      setError(problem);
    }
  };
  const rows = profiles.data?.items ?? [];
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-sm text-ink-2">
          Which column fills which field, and how its values are read. The next file with the same columns
          finds its profile by itself.
        </p>
        {canWrite && (
          <>
            <input
              ref={picker}
              type="file"
              accept=".toml"
              hidden
              aria-label="Profile as TOML"
              onChange={(event) => {
                const file = event.target.files?.[0];
                event.target.value = "";
                if (file) void bring(file);
              }}
            />
            <Button onClick={() => picker.current?.click()}>
              <Upload aria-hidden /> Import TOML
            </Button>
          </>
        )}
      </div>
      {error !== null && <ErrorNote error={error} className="mb-3" />}
      <List
        query={profiles}
        rows={rows.length}
        empty={
          <EmptyState icon={FileCog} title="No profiles yet">
            Map the columns of a file when you import it, and save that as a profile of its supplier.
          </EmptyState>
        }
      >
        <Table
          label="Profiles"
          head={[
            { label: "Name" },
            { label: "Columns", className: "text-right" },
            { label: "Version", className: "text-right" },
            { label: "Saved", className: "hidden sm:table-cell" },
            { label: <span className="sr-only">Actions</span> },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.name}>
              <td className="font-medium">{one.name}</td>
              <td className="text-right">{Object.keys(one.columns ?? {}).length}</td>
              <td className="text-right">{one.version}</td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.createdAt} />
              </td>
              <td>
                <div className="flex justify-end gap-1">
                  <Button size="sm" onClick={() => setOpen(one.name)}>
                    {canWrite ? "Edit" : "Look"}
                  </Button>
                  {canWrite && (
                    <Button size="sm" look="quiet" onClick={() => setGone(one.name)}>
                      Delete
                    </Button>
                  )}
                </div>
              </td>
            </tr>
          ))}
        </Table>
      </List>
      <SavedValues />
      {open && <Editor name={open} canWrite={canWrite} onClose={() => setOpen(null)} onSaved={again} />}
      <Confirm
        open={gone !== null}
        onOpenChange={() => setGone(null)}
        title={`Delete the profile ${gone}?`}
        action="Delete"
        danger
        onConfirm={async () => {
          await ok(client.DELETE("/api/profiles/{name}", { params: { path: { name: gone ?? "" } } }));
          again();
        }}
      >
        <p>New files will not use it. Earlier jobs are not changed.</p>
      </Confirm>
    </>
  );
}

function Editor({
  name,
  canWrite,
  onClose,
  onSaved,
}: {
  name: string;
  canWrite: boolean;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [text, setText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const stored = useQuery({
    queryKey: ["profiles", "toml", name],
    queryFn: async () =>
      (await send(`/api/profiles/${encodeURIComponent(name)}`, { headers: { Accept: TOML } })).text(),
    gcTime: 0,
  });
  const shown = text ?? stored.data ?? "";
  const keep = async () => {
    setBusy(true);
    setError(null);
    try {
      await save(shown, name);
      toast.success("Saved as a new version");
      onSaved();
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Drawer open onOpenChange={onClose} title={name}>
      <div className="space-y-3">
        {(stored.error ?? error) !== null && <ErrorNote error={stored.error ?? error} />}
        <Textarea
          aria-label="Profile as TOML"
          className="min-h-[60dvh] font-mono text-xs"
          spellCheck={false}
          readOnly={!canWrite}
          value={shown}
          onChange={(event) => setText(event.target.value)}
        />
        {canWrite && (
          <Button look="primary" busy={busy} disabled={text === null} onClick={() => void keep()}>
            Save as a new version
          </Button>
        )}
      </div>
    </Drawer>
  );
}
