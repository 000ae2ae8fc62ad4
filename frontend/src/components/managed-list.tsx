import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { Confirm } from "./dialog";
import { ErrorNote } from "./error-note";
import { type Column, List, type Listing, Table } from "./table";

interface Props {
  label: string;
  /** What the list is for. */
  intro?: ReactNode;
  /** Buttons beside it, such as one for a new entry. */
  actions?: ReactNode;
  /** What went wrong with an action. */
  error?: unknown;
  query: Listing;
  rows: number;
  empty: ReactNode;
  /** Without the column of actions, which is the last one. */
  head: Column[];
  children: ReactNode;
}

/** A list of settings that people add to, change and delete from: a line above, then a table. */
export function ManagedList({ label, intro, actions, error, query, rows, empty, head, children }: Props) {
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-60 text-sm text-ink-2">{intro}</div>
        {actions}
      </div>
      {error != null && <ErrorNote error={error} className="mb-3" />}
      <List query={query} rows={rows} empty={empty}>
        <Table label={label} head={[...head, { label: <span className="sr-only">Actions</span> }]}>
          {children}
        </Table>
      </List>
    </>
  );
}

/** The last cell of a row. */
export function RowActions({ children }: { children: ReactNode }) {
  return (
    <td>
      <div className="flex flex-wrap justify-end gap-1">{children}</div>
    </td>
  );
}

export function EditAndDelete({
  name,
  onEdit,
  onDelete,
}: {
  name: string;
  onEdit: () => void;
  onDelete: () => void;
}) {
  return (
    <RowActions>
      <Button size="sm" aria-label={`Edit ${name}`} onClick={onEdit}>
        Edit
      </Button>
      <Button size="sm" look="quiet" aria-label={`Delete ${name}`} onClick={onDelete}>
        Delete
      </Button>
    </RowActions>
  );
}

interface Deletion<T> {
  /** A question, such as “Delete the profile acme?”. */
  title: (entry: T) => string;
  /** What else happens by that. */
  note: ReactNode;
  action?: string;
  queryKey: string[];
  onDelete: (entry: T) => Promise<unknown>;
}

/** Asks before an entry is deleted, and reads the list again: `ask(entry)`, and the dialog to show. */
export function useDeletion<T>({ title, note, action = "Delete", queryKey, onDelete }: Deletion<T>) {
  const queries = useQueryClient();
  const [entry, setEntry] = useState<T | null>(null);
  const dialog = entry !== null && (
    <Confirm
      open
      onOpenChange={() => setEntry(null)}
      title={title(entry)}
      action={action}
      danger
      onConfirm={async () => {
        await onDelete(entry);
        void queries.invalidateQueries({ queryKey });
      }}
    >
      <p>{note}</p>
    </Confirm>
  );
  return { ask: (one: T) => setEntry(() => one), dialog };
}
