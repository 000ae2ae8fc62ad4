import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { Button } from "../../../components/button";
import { Choice } from "../../../components/choice";
import { Dialog } from "../../../components/dialog";
import { ErrorNote } from "../../../components/error-note";
import { Checkbox, Field, Input, Select } from "../../../components/field";
import { toast } from "../../../components/toast";
import type { FullJob } from "../../../lib/api";
import { useAttempt } from "../../../lib/attempt";
import { cellText, count, plural } from "../../../lib/format";
import { applyEdit, previewEdit, type RowChange, type RowSelection } from "./edits";

interface Props {
  job: FullJob;
  columns: string[];
  select: RowSelection;
  /** The column to begin with. */
  column?: string;
  onClose: () => void;
  onDone: () => void;
}

type Kind = "replace" | "set" | "fillDown";

/** Change one column of many rows: what would change is shown first. */
export function EditDialog({ job, columns, select, column: first, onClose, onDone }: Props) {
  const queries = useQueryClient();
  const [kind, setKind] = useState<Kind>("replace");
  const [column, setColumn] = useState(first ?? columns[0] ?? "");
  const [find, setFind] = useState("");
  const [value, setValue] = useState("");
  const [wholeCell, setWholeCell] = useState(false);
  const [matchCase, setMatchCase] = useState(true);
  const { busy, error, attempt } = useAttempt();
  const change = changeOf(kind, column, find, value, wholeCell, matchCase);
  const asked = useDeferredValue(JSON.stringify(change));
  const seen = useQuery({
    queryKey: ["job", job.id, "edit-preview", JSON.stringify(select), asked],
    queryFn: () => previewEdit(job.id, select, JSON.parse(asked) as RowChange),
    enabled: asked !== "null",
    placeholderData: (before) => before,
    gcTime: 0,
  });
  // The rows of another change must not be confirmed for this one.
  const fresh = !seen.isPlaceholderData && asked === JSON.stringify(change);
  const rows = change && seen.data ? seen.data.rows : 0;
  const apply = async () => {
    if (!change) return;
    await attempt(async () => {
      const made = await applyEdit(queries, job, select, change);
      toast.success(
        `${plural(made.rows, "row is", "rows are")} changed and ${made.rows === 1 ? "runs" : "run"} again`,
      );
      onDone();
      onClose();
    });
  };
  return (
    <Dialog
      open
      wide
      onOpenChange={onClose}
      title="Edit rows"
      description={
        select.itemIds
          ? `${plural(select.itemIds.length, "selected row")}. The rows run again with the new cells.`
          : "All rows that match the filter. The rows run again with the new cells."
      }
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={busy} disabled={rows === 0 || !fresh} onClick={apply}>
            {rows > 0
              ? `Change ${seen.data?.capped ? "at least " : ""}${plural(rows, "row")}`
              : "Change rows"}
          </Button>
        </>
      }
    >
      <div className="space-y-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Column">
            {(ids) => (
              <Select {...ids} value={column} onChange={(event) => setColumn(event.target.value)}>
                {columns.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </Select>
            )}
          </Field>
          <div className="space-y-1">
            <span className="block text-sm font-medium">Change</span>
            <Choice
              label="Change"
              value={kind}
              onChange={setKind}
              options={[
                { value: "replace", label: "Find and replace" },
                { value: "set", label: "Set a value" },
                { value: "fillDown", label: "Fill down", title: "Empty cells take the text above them" },
              ]}
            />
          </div>
          {kind === "replace" && (
            <Field label="Find">
              {(ids) => <Input {...ids} value={find} onChange={(event) => setFind(event.target.value)} />}
            </Field>
          )}
          {kind !== "fillDown" && (
            <Field label={kind === "replace" ? "Replace with" : "New value"}>
              {(ids) => <Input {...ids} value={value} onChange={(event) => setValue(event.target.value)} />}
            </Field>
          )}
        </div>
        {kind === "replace" && (
          <div className="flex flex-wrap gap-4 text-sm">
            <label className="flex items-center gap-2">
              <Checkbox checked={wholeCell} onChange={(event) => setWholeCell(event.target.checked)} /> Whole
              cell only
            </label>
            <label className="flex items-center gap-2">
              <Checkbox checked={matchCase} onChange={(event) => setMatchCase(event.target.checked)} /> Match
              case
            </label>
          </div>
        )}
        {kind === "fillDown" && (
          <p className="text-sm text-ink-2">
            Each empty cell takes the text of the nearest filled cell above.
          </p>
        )}
        {(error ?? seen.error) !== null && <ErrorNote error={error ?? seen.error} />}
        {change && seen.data && <Changes rows={rows} capped={seen.data.capped} changes={seen.data.changes} />}
      </div>
    </Dialog>
  );
}

function changeOf(
  kind: Kind,
  column: string,
  find: string,
  value: string,
  wholeCell: boolean,
  matchCase: boolean,
): RowChange | null {
  if (!column) return null;
  if (kind === "fillDown") return { kind, column };
  if (kind === "set") return { kind, column, value };
  if (!find && !wholeCell) return null;
  return { kind, column, find, value, wholeCell, matchCase };
}

interface ChangesProps {
  rows: number;
  capped: boolean;
  changes: { row: number; before: Record<string, unknown>; after: Record<string, string> }[];
}

function Changes({ rows, capped, changes }: ChangesProps) {
  return (
    <div>
      <p className="text-sm font-medium" aria-live="polite">
        {rows === 0
          ? "No row would change."
          : `${capped ? "At least " : ""}${plural(rows, "row")} would change${rows > changes.length ? `; the first ${changes.length}:` : ":"}`}
      </p>
      {changes.length > 0 && (
        <div
          className="mt-1 max-h-60 overflow-auto rounded-md border"
          tabIndex={0}
          role="group"
          aria-label="Changes"
        >
          <table className="w-full text-sm">
            <thead className="text-left text-xs text-ink-2">
              <tr>
                <th className="px-2 py-1 font-medium">Row</th>
                <th className="px-2 py-1 font-medium">Before</th>
                <th className="px-2 py-1 font-medium">After</th>
              </tr>
            </thead>
            <tbody>
              {changes.flatMap((one) =>
                Object.entries(one.after).map(([name, text]) => (
                  <tr key={`${one.row} ${name}`} className="border-t">
                    <td className="px-2 py-1 font-mono text-xs text-ink-2">{count(one.row)}</td>
                    <td className="px-2 py-1 break-all text-ink-2">
                      {cellText(one.before[name]) || "(empty)"}
                    </td>
                    <td className="px-2 py-1 break-all">{text || "(empty)"}</td>
                  </tr>
                )),
              )}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
