import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Checkbox } from "../../components/field";
import { RowsSkeleton } from "../../components/skeleton";
import { Table } from "../../components/table";
import { client, type FullJob, ok, type Schemas } from "../../lib/api";
import { count, plural } from "../../lib/format";
import { lineOf } from "../../lib/lines";

type HeldRow = Schemas["HeldRowShape"];

interface Props {
  job: FullJob;
  canAccept: boolean;
  onAccept: (rows: number[]) => Promise<unknown>;
  onClose: () => void;
}

/** Rows that were held back, the largest change first, to accept one by one. */
export function ReviewHeld({ job, canAccept, onAccept, onClose }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const held = useQuery({
    queryKey: ["job", job.id, "held", job.updatedAt],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/held", { params: { path: { job_id: job.id } }, signal })),
  });
  const rows = held.data?.items ?? [];
  const choose = (row: number, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(row);
    else next.delete(row);
    setChosen(next);
  };
  const accept = async () => {
    setBusy(true);
    setError(null);
    try {
      await onAccept([...chosen]);
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
      onOpenChange={onClose}
      title="Rows held back"
      description={`The largest change comes first.${canAccept ? " Rows that you do not accept are not written." : ""}`}
      wide
      footer={
        <>
          <Button onClick={onClose}>{canAccept ? "Cancel" : "Close"}</Button>
          {canAccept && (
            <Button look="primary" busy={busy} disabled={chosen.size === 0} onClick={() => void accept()}>
              Accept {plural(chosen.size, "row")}
            </Button>
          )}
        </>
      }
    >
      {held.error && <ErrorNote error={held.error} onRetry={() => void held.refetch()} />}
      {error !== null && <ErrorNote error={error} className="mb-3" />}
      {held.isPending && <RowsSkeleton rows={4} />}
      {rows.length > 0 && (
        <Table
          label="Rows held back"
          head={[
            ...(canAccept
              ? [
                  {
                    label: (
                      <Checkbox
                        aria-label="Choose all shown"
                        checked={chosen.size === rows.length}
                        onChange={(event) =>
                          setChosen(new Set(event.target.checked ? rows.map((one) => one.rowNo) : []))
                        }
                      />
                    ),
                    className: "w-8",
                  },
                ]
              : []),
            { label: "Product" },
            { label: "Before", className: "text-right" },
            { label: "Now", className: "text-right" },
            { label: "Change", className: "text-right" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.rowNo}>
              {canAccept && (
                <td>
                  <Checkbox
                    aria-label={`Choose row ${one.rowNo}`}
                    checked={chosen.has(one.rowNo)}
                    onChange={(event) => choose(one.rowNo, event.target.checked)}
                  />
                </td>
              )}
              <td className="max-w-60">
                <span className="block truncate font-medium">{one.title ?? `Row ${one.rowNo}`}</span>
                <span className="block truncate text-xs text-ink-3">
                  {[one.sku, placeOf(job, one.rowNo)].filter(Boolean).join(" · ")}
                </span>
              </td>
              <td className="text-right whitespace-nowrap tabular-nums">{one.before}</td>
              <td className="text-right whitespace-nowrap tabular-nums">
                {[one.after, one.currency].filter(Boolean).join(" ")}
              </td>
              <td className="text-right whitespace-nowrap tabular-nums">{change(one)}</td>
            </tr>
          ))}
        </Table>
      )}
      {held.data?.more && (
        <p className="pt-2 text-sm text-ink-2">The first {count(rows.length)} are shown.</p>
      )}
    </Dialog>
  );
}

function placeOf(job: FullJob, row: number): string {
  const line = lineOf(job.lines, row);
  return `row ${count(row)}${line ? `, line ${count(line)} of the file` : ""}`;
}

function change(row: HeldRow): string {
  if (row.percent === null) return row.code === "GTIN_CHANGE_HELD" ? "GTIN" : "was 0";
  return `${row.percent > 0 ? "+" : ""}${count(Math.round(row.percent))} %`;
}
