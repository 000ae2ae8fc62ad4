import { useQueryClient } from "@tanstack/react-query";
import { Check, PencilLine, RotateCw, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { count, plural } from "../../lib/format";
import type { ItemFilter } from "../../lib/item-pages";
import { useShortcuts } from "../../lib/keys";
import { OpenSelection } from "../pending/selected";
import { EditDialog } from "./edits/edit-dialog";
import { rowsToEdit } from "./edits/edits";
import { isHeld, useAccept } from "./held";
import { NOTHING, type Selection } from "./selection";

interface Props {
  job: FullJob;
  filter: ItemFilter;
  known: number | null;
  selection: Selection;
  /** Columns of the file that may be edited. */
  columns: string[];
  onChange: (selection: Selection) => void;
  onDone: () => void;
}

const OPEN: ReadonlySet<string> = new Set(["PENDING", "PROCESSING"]);
const ENDED = ["DONE", "ERROR", "NOT_FOUND", "SKIPPED"] as const;

/** What can be done with the selected rows, and with everything that matches. */
export function SelectionBar(props: Props) {
  const { job, filter, known, selection, onChange, onDone } = props;
  // Open rows cannot run again, but those that wait can be tried now.
  if (filter.statuses.length > 0 && filter.statuses.every((one) => OPEN.has(one))) {
    return (
      <OpenSelection
        selected={selection.rows.size}
        all={selection.all}
        matching={known}
        onTakeAll={() => onChange({ all: true, rows: new Set(), last: null })}
        onClear={() => onChange(NOTHING)}
        which={() =>
          selection.all
            ? { all: { jobId: job.id } }
            : { rows: [...selection.rows].map((row) => `${job.id}:${row}`) }
        }
        onDone={onDone}
      />
    );
  }
  return <EndedSelection {...props} />;
}

function EndedSelection({ job, filter, known, selection, columns, onChange, onDone }: Props) {
  const [editing, setEditing] = useState(false);
  const queries = useQueryClient();
  const [asking, setAsking] = useState(false);
  const accept = useAccept(job);
  // A search cannot be repeated on the server by its words alone, so it takes rows by number only.
  const canTakeAll = !filter.q && known !== null;
  const many = selection.all ? (known ?? 0) : selection.rows.size;
  useShortcuts("Selected rows", {
    r: ["Reprocess the selected rows", () => setAsking(true)],
    Escape: ["Clear selection", () => onChange(NOTHING)],
  });
  const reprocess = async () => {
    const statuses = filter.statuses.length
      ? ENDED.filter((one) => filter.statuses.includes(one))
      : [...ENDED];
    const body = selection.all
      ? {
          scope: "items" as const,
          statuses,
          codes: filter.code ? [filter.code] : [],
          resetAttempts: true,
          fromStart: true,
        }
      : {
          scope: "items" as const,
          itemIds: [...selection.rows],
          statuses: [...ENDED],
          resetAttempts: true,
          fromStart: true,
        };
    const done = await ok(
      client.POST("/api/jobs/{job_id}/reprocess", { params: { path: { job_id: job.id } }, body }),
    );
    queries.setQueryData(["job", job.id], done.job);
    void queries.invalidateQueries({ queryKey: ["operations"] });
    onChange(NOTHING);
    onDone();
    toast.success(
      done.operationId
        ? "The rows are being reprocessed in the background"
        : `${plural(done.reprocessed, "row runs", "rows run")} again${done.leftOut ? `, ${count(done.leftOut)} left out` : ""}`,
    );
  };
  return (
    <div
      role="region"
      aria-label="Selected rows"
      className="fade-in flex flex-wrap items-center gap-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-1.5 text-sm"
    >
      <span className="font-medium" aria-live="polite">
        {selection.all ? `All ${count(many)} matching rows selected` : `${count(many)} selected`}
      </span>
      {!selection.all && canTakeAll && known > selection.rows.size && (
        <button
          type="button"
          className="plain-link"
          onClick={() => onChange({ all: true, rows: new Set(), last: null })}
        >
          Select all {count(known)} matching
        </button>
      )}
      <div className="flex-1" />
      {isHeld(filter.code) && (
        <Button
          size="sm"
          look="primary"
          onClick={() =>
            accept(selection.all ? { codes: [filter.code ?? ""] } : { itemIds: [...selection.rows] }).then(
              () => {
                onChange(NOTHING);
                onDone();
              },
              (problem) => toast.error(String(problem)),
            )
          }
        >
          <Check aria-hidden /> Accept {plural(many, "row")}
        </Button>
      )}
      <Button size="sm" look={isHeld(filter.code) ? "plain" : "primary"} onClick={() => setAsking(true)}>
        <RotateCw aria-hidden /> Reprocess
      </Button>
      {columns.length > 0 && (
        <Button size="sm" onClick={() => setEditing(true)}>
          <PencilLine aria-hidden /> Edit
        </Button>
      )}
      {editing && (
        <EditDialog
          job={job}
          columns={columns}
          select={rowsToEdit(filter, selection)}
          onClose={() => setEditing(false)}
          onDone={() => {
            onChange(NOTHING);
            onDone();
          }}
        />
      )}
      <Button size="sm" look="quiet" onClick={() => onChange(NOTHING)}>
        <X aria-hidden /> Clear
      </Button>
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title={`Run ${plural(many, "row")} again?`}
        action={`Reprocess ${plural(many, "row")}`}
        onConfirm={reprocess}
      >
        <p>
          They start again from the first stage with a new retry count. Their results are replaced once the
          new ones are ready. Waiting and running rows are not affected.
        </p>
      </Confirm>
    </div>
  );
}
