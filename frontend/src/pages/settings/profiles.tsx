import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileCog, Upload } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { EditAndDelete, ManagedList, RowActions, useDeletion } from "../../components/managed-list";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useCanWrite } from "../../lib/session";
import { putProfile } from "./profile/draft";
import { ProfileEditor } from "./profile/editor";
import { SavedValues } from "./saved-values";

/** How the files of suppliers are read. */
export default function Profiles() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const picker = useRef<HTMLInputElement>(null);
  const navigate = useNavigate();
  const open = useSearch({ from: "/inside/settings/$part" }).profile ?? null;
  const setOpen = (profile: string | null) =>
    void navigate({
      to: "/settings/$part",
      params: { part: "profiles" },
      search: profile ? { profile } : {},
    });
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
      await putProfile(name, text);
      toast.success(`Profile ${name} is saved`);
      again();
    } catch (problem) {
      setError(problem);
    }
  };
  const rows = profiles.data?.items ?? [];
  const deletion = useDeletion<string>({
    title: (name) => `Delete the profile ${name}?`,
    note: "New files will not use it. Earlier jobs are not changed.",
    queryKey: ["profiles"],
    onDelete: (name) => ok(client.DELETE("/api/profiles/{name}", { params: { path: { name } } })),
  });
  return (
    <>
      <ManagedList
        label="Profiles"
        intro="Which column fills which field, and how its values are read. A file with the same columns uses the profile automatically."
        actions={
          canWrite && (
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
          )
        }
        error={error}
        query={profiles}
        rows={rows.length}
        empty={
          <EmptyState icon={FileCog} title="No profiles yet">
            Map the columns of a file when you import it, and save that as a profile of its supplier.
          </EmptyState>
        }
        head={[
          { label: "Name" },
          { label: "Columns", className: "text-right" },
          { label: "Version", className: "text-right" },
          { label: "Saved", className: "hidden sm:table-cell" },
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
            {canWrite ? (
              <EditAndDelete
                name={one.name}
                onEdit={() => setOpen(one.name)}
                onDelete={() => deletion.ask(one.name)}
              />
            ) : (
              <RowActions>
                <Button size="sm" aria-label={`View ${one.name}`} onClick={() => setOpen(one.name)}>
                  View
                </Button>
              </RowActions>
            )}
          </tr>
        ))}
      </ManagedList>
      <SavedValues />
      {open && (
        <ProfileEditor name={open} canWrite={canWrite} onClose={() => setOpen(null)} onSaved={again} />
      )}
      {deletion.dialog}
    </>
  );
}
