import { useQuery } from "@tanstack/react-query";
import { Button } from "../../components/button";
import { ChooseCell, chooseAllColumn, useChosen } from "../../components/chosen";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { RowsSkeleton } from "../../components/skeleton";
import { Table } from "../../components/table";
import { client, type FullJob, ok, type Schemas } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
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
  const chosen = useChosen<number>();
  const { busy, error, attempt } = useAttempt();
  const held = useQuery({
    queryKey: ["job", job.id, "held", job.updatedAt],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/held", { params: { path: { job_id: job.id } }, signal })),
  });
  const rows = held.data?.items ?? [];
  const accept = async () => {
    await attempt(async () => {
      await onAccept([...chosen.chosen]);
      onClose();
    });
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
            <Button
              look="primary"
              busy={busy}
              disabled={chosen.chosen.size === 0}
              onClick={() => void accept()}
            >
              Accept {plural(chosen.chosen.size, "row")}
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
            ...chooseAllColumn(
              chosen,
              rows.map((one) => one.rowNo),
              canAccept,
            ),
            { label: "Product" },
            { label: "Before", className: "text-right max-sm:hidden" },
            { label: "Now", className: "text-right max-sm:hidden" },
            { label: "Change", className: "text-right" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.rowNo}>
              {canAccept && <ChooseCell of={chosen} rowKey={one.rowNo} label={`Choose row ${one.rowNo}`} />}
              <td className="max-w-60">
                <span className="block truncate font-medium">{one.title ?? `Row ${one.rowNo}`}</span>
                <span className="block truncate text-xs text-ink-3">
                  {[one.sku, placeOf(job, one.rowNo)].filter(Boolean).join(" · ")}
                </span>
                <span className="block break-words tabular-nums sm:hidden">
                  {one.before} → {[one.after, one.currency].filter(Boolean).join(" ")}
                </span>
              </td>
              <td className="text-right whitespace-nowrap tabular-nums max-sm:hidden">{one.before}</td>
              <td className="text-right whitespace-nowrap tabular-nums max-sm:hidden">
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
