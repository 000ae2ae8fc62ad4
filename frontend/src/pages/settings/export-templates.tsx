import { useQueryClient } from "@tanstack/react-query";
import { ArrowDown, ArrowUp, Columns3, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { EditAndDelete, ManagedList, useDeletion } from "../../components/managed-list";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { label } from "../../lib/labels";
import { useCanWrite } from "../../lib/session";
import { type ExportTemplate, moved, useTemplates } from "../../lib/templates";

type Draft = Pick<ExportTemplate, "name" | "columns" | "variants">;
const VARIANTS = { text: "In one cell", rows: "As rows", columns: "As columns" } as const;

/** Choose, order and rename the columns of exports. */
export default function ExportTemplates() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const templates = useTemplates();
  const [editing, setEditing] = useState<Draft | null>(null);
  const rows = templates.data?.items ?? [];
  const again = () => void queries.invalidateQueries({ queryKey: ["export-templates"] });
  const deletion = useDeletion<string>({
    title: (name) => `Delete the template ${name}?`,
    note: "Exports made with it are not changed.",
    queryKey: ["export-templates"],
    onDelete: (name) => ok(client.DELETE("/api/export-templates/{name}", { params: { path: { name } } })),
  });
  return (
    <>
      <ManagedList
        label="Export templates"
        intro="Which columns an export has, in which order and by which names. Choose a template in the export menu of a job or of the products."
        actions={
          canWrite && (
            <Button onClick={() => setEditing({ name: "", columns: [], variants: "text" })}>
              New template
            </Button>
          )
        }
        query={templates}
        rows={rows.length}
        empty={
          <EmptyState icon={Columns3} title="No export templates">
            A template writes the columns that a shop or a colleague expects.
          </EmptyState>
        }
        head={[
          { label: "Name" },
          { label: "Columns" },
          { label: "Variants", className: "hidden sm:table-cell" },
        ]}
      >
        {rows.map((one) => (
          <tr key={one.name}>
            <td className="font-medium">{one.name}</td>
            <td className="max-w-0 w-1/2 truncate text-ink-2">
              {one.columns.map((column) => column.name).join(", ")}
            </td>
            <td className="hidden sm:table-cell">{VARIANTS[one.variants ?? "text"]}</td>
            {canWrite ? (
              <EditAndDelete
                name={one.name}
                onEdit={() => setEditing(one)}
                onDelete={() => deletion.ask(one.name)}
              />
            ) : (
              <td />
            )}
          </tr>
        ))}
      </ManagedList>
      {editing && (
        <Editor
          first={editing}
          known={templates.data?.knownColumns ?? []}
          onClose={() => setEditing(null)}
          onSaved={again}
        />
      )}
      {deletion.dialog}
    </>
  );
}

interface EditorProps {
  first: Draft;
  known: string[];
  onClose: () => void;
  onSaved: () => void;
}

function Editor({ first, known, onClose, onSaved }: EditorProps) {
  const [name, setName] = useState(first.name);
  const [columns, setColumns] = useState(first.columns);
  const [variants, setVariants] = useState(first.variants ?? "text");
  const [own, setOwn] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const add = (column: string) => {
    if (column) setColumns((now) => [...now, { column, name: label(column) }]);
  };
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const params = { path: { name: name.trim() } };
      await ok(client.PUT("/api/export-templates/{name}", { params, body: { columns, variants } }));
      toast.success(`Template ${name.trim()} is saved`);
      onSaved();
      onClose();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title={first.name ? `Template ${first.name}` : "New template"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            busy={busy}
            disabled={!name.trim() || columns.length === 0}
            onClick={() => void save()}
          >
            Save
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Name">
            {(ids) => (
              <Input
                {...ids}
                value={name}
                maxLength={100}
                readOnly={!!first.name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <Field label="Variants of products">
            {(ids) => (
              <Select
                {...ids}
                value={variants}
                onChange={(event) => setVariants(event.target.value as keyof typeof VARIANTS)}
              >
                {Object.entries(VARIANTS).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <ol className="space-y-1.5" aria-label="Columns of the template">
          {columns.map((one, place) => (
            <li key={`${one.column} ${place}`} className="flex items-center gap-1.5 text-sm">
              <span className="w-32 shrink-0 truncate text-ink-2" title={one.column}>
                {one.column}
              </span>
              <Input
                aria-label={`Name of ${one.column} in the file`}
                value={one.name}
                onChange={(event) =>
                  setColumns(
                    columns.map((was, n) => (n === place ? { ...was, name: event.target.value } : was)),
                  )
                }
              />
              <Button
                size="icon-sm"
                look="quiet"
                aria-label={`Move ${one.column} up`}
                disabled={place === 0}
                onClick={() => setColumns(moved(columns, place, -1))}
              >
                <ArrowUp aria-hidden />
              </Button>
              <Button
                size="icon-sm"
                look="quiet"
                aria-label={`Move ${one.column} down`}
                disabled={place === columns.length - 1}
                onClick={() => setColumns(moved(columns, place, 1))}
              >
                <ArrowDown aria-hidden />
              </Button>
              <Button
                size="icon-sm"
                look="quiet"
                aria-label={`Remove ${one.column}`}
                onClick={() => setColumns(columns.filter((_, n) => n !== place))}
              >
                <X aria-hidden />
              </Button>
            </li>
          ))}
        </ol>
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Add a column">
            {(ids) => (
              <Select {...ids} value="" onChange={(event) => add(event.target.value)}>
                <option value="">Choose …</option>
                {known
                  .filter((column) => !columns.some((one) => one.column === column))
                  .map((column) => (
                    <option key={column} value={column}>
                      {label(column)}
                    </option>
                  ))}
              </Select>
            )}
          </Field>
          <Field label="Or another column" hint="A custom column, or option:Color of a variant. Press Enter.">
            {(ids) => (
              <Input
                {...ids}
                value={own}
                onChange={(event) => setOwn(event.target.value)}
                onKeyDown={(event) => {
                  if (event.key !== "Enter") return;
                  event.preventDefault();
                  add(own.trim());
                  setOwn("");
                }}
              />
            )}
          </Field>
        </div>
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
