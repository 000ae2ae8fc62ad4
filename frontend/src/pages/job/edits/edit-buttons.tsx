import { useQueryClient } from "@tanstack/react-query";
import { PencilLine, Undo2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../components/button";
import { Confirm } from "../../../components/dialog";
import { toast } from "../../../components/toast";
import type { FullJob, Schemas } from "../../../lib/api";
import { plural } from "../../../lib/format";
import type { ItemFilter } from "../../../lib/item-pages";
import { EditDialog } from "./edit-dialog";
import { rowsToEdit, undoEdit, useEdits } from "./edits";

interface Props {
  job: FullJob;
  filter: ItemFilter;
  columns: string[];
  canEdit: boolean;
  onDone: () => void;
}

/** Edit all rows that match, and undo the last edit. */
export function EditButtons({ job, filter, columns, canEdit, onDone }: Props) {
  const [editing, setEditing] = useState(false);
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  const edits = useEdits(job, canEdit);
  const last = edits.data?.items.find((one) => one.id === edits.data.undoable);
  if (!canEdit || columns.length === 0) return null;
  const undo = async () => {
    if (!last) return;
    const made = await undoEdit(queries, job, last.id);
    toast.success(
      `${plural(made.rows, "row is", "rows are")} restored and ${made.rows === 1 ? "runs" : "run"} again`,
    );
    onDone();
  };
  return (
    <>
      <Button look="quiet" onClick={() => setEditing(true)}>
        <PencilLine aria-hidden /> Edit rows
      </Button>
      {last && (
        <Button look="quiet" onClick={() => setAsking(true)} title={titleOf(last)}>
          <Undo2 aria-hidden /> Undo edit
        </Button>
      )}
      {editing && (
        <EditDialog
          job={job}
          columns={columns}
          column={columnToEdit(job, columns, filter)}
          select={rowsToEdit(filter, null)}
          onClose={() => setEditing(false)}
          onDone={onDone}
        />
      )}
      {last && (
        <Confirm
          open={asking}
          onOpenChange={setAsking}
          title="Undo the last edit?"
          action={`Restore ${plural(last.rows, "row")}`}
          onConfirm={undo}
        >
          <p>{titleOf(last)}</p>
          <p>The cells get back their texts from before the edit, and the rows run again.</p>
        </Confirm>
      )}
    </>
  );
}

/** Where rows with problems are shown, the column that has most of them. */
export function columnToEdit(
  job: Pick<FullJob, "summary">,
  columns: string[],
  filter: Pick<ItemFilter, "statuses" | "problem">,
): string | undefined {
  if (!filter.problem && !filter.statuses.some((one) => one === "ERROR")) return undefined;
  const found = (job.summary as { columns?: { column: string; errors: number; warnings: number }[] } | null)
    ?.columns;
  const many = (one: { errors: number; warnings: number }) => (filter.problem ? one.warnings : one.errors);
  const worst = [...(found ?? [])].sort((a, b) => many(b) - many(a))[0];
  return worst && many(worst) > 0 && columns.includes(worst.column) ? worst.column : undefined;
}

function titleOf(edit: Schemas["EditShape"]): string {
  const change = edit.change as { kind: string; column?: string; find?: string; value?: string };
  const rows = plural(edit.rows, "row");
  switch (change.kind) {
    case "replace":
      return `“${change.find}” was replaced with “${change.value}” in ${change.column} (${rows}).`;
    case "set":
      return `${change.column} was set to “${change.value}” (${rows}).`;
    case "fillDown":
      return `${change.column} was filled down (${rows}).`;
    default:
      return `Cells of ${rows} were changed.`;
  }
}
