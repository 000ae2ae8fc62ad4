import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { BookMarked } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Field, Input } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { EditAndDelete, ManagedList, useDeletion } from "../../components/managed-list";
import { client, ok, type Schemas } from "../../lib/api";
import { fieldLabel } from "../../lib/labels";
import { useCanWrite } from "../../lib/session";

type Word = Schemas["WordPage"]["items"][number];
const NEW = { source: "", field: "", word: "", value: "" };

/** What words in suppliers' files mean, per source and field. */
export function SavedValues() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const [editing, setEditing] = useState<Pick<Word, "source" | "field" | "word" | "value"> | null>(null);
  const words = useInfiniteQuery({
    queryKey: ["saved-values"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/saved-values", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const again = () => void queries.invalidateQueries({ queryKey: ["saved-values"] });
  const rows = words.data?.pages.flatMap((page) => page.items) ?? [];
  const deletion = useDeletion<Word>({
    title: (one) => `Delete the value of “${one.word}”?`,
    note: "The next file is read without it. Earlier jobs are not changed.",
    queryKey: ["saved-values"],
    onDelete: ({ source, field, word }) =>
      ok(client.DELETE("/api/saved-values", { params: { query: { source, field, word } } })),
  });
  return (
    <section className="mt-8" aria-label="Saved values">
      <ManagedList
        label="Saved values"
        intro={
          <>
            <h2 className="text-base font-semibold text-ink">Saved values</h2>
            <p>Words of a supplier and the text that is read instead. They apply from the next file on.</p>
          </>
        }
        actions={canWrite && <Button onClick={() => setEditing(NEW)}>Add a value</Button>}
        query={words}
        rows={rows.length}
        empty={
          <EmptyState icon={BookMarked} title="No saved values">
            The Warnings and Errors tabs of a job offer values that could not be read in several rows.
          </EmptyState>
        }
        head={[{ label: "Source" }, { label: "Field" }, { label: "Word" }, { label: "Read as" }]}
      >
        {rows.map((one) => (
          <tr key={`${one.source} ${one.field} ${one.word}`}>
            <td className="font-medium">{one.source}</td>
            <td>{fieldLabel(one.field)}</td>
            <td className="break-all">{one.word}</td>
            <td className="break-all">{one.value || <span className="text-ink-2">(empty)</span>}</td>
            {canWrite ? (
              <EditAndDelete
                name={`“${one.word}”`}
                onEdit={() => setEditing(one)}
                onDelete={() => deletion.ask(one)}
              />
            ) : (
              <td />
            )}
          </tr>
        ))}
      </ManagedList>
      {deletion.dialog}
      {editing && (
        <FormDialog
          title={editing.word ? `Value of “${editing.word}”` : "Add a value"}
          action="Save"
          onClose={() => setEditing(null)}
          onSave={async (form) => {
            const text = (name: string) => String(form.get(name) ?? "").trim();
            await ok(
              client.PUT("/api/saved-values", {
                body: {
                  source: editing.source || text("source"),
                  field: editing.field || text("field"),
                  word: editing.word || text("word"),
                  value: text("value"),
                },
              }),
            );
            again();
            setEditing(null);
          }}
        >
          {editing === NEW && (
            <>
              <Field label="Source">{(ids) => <Input {...ids} name="source" required />}</Field>
              <Field label="Field" hint="Such as availability.quantity">
                {(ids) => <Input {...ids} name="field" required />}
              </Field>
              <Field label="Word in the file">{(ids) => <Input {...ids} name="word" required />}</Field>
            </>
          )}
          <Field label="Read as" hint="Leave it empty to read the word as an empty cell.">
            {(ids) => <Input {...ids} name="value" defaultValue={editing.value} />}
          </Field>
        </FormDialog>
      )}
    </section>
  );
}
