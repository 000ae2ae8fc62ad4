import { useQuery } from "@tanstack/react-query";
import { Table } from "../../components/table";
import { client, type FullJob, ok, type Preview } from "../../lib/api";
import { count } from "../../lib/format";
import { fieldLabel } from "../../lib/labels";
import { isLive } from "../../lib/states";

type Figure = Preview["columnFigures"][number];

/** The columns of a check of the whole file, also while it runs. */
export function FiguresOfCheck({ job }: { job: FullJob }) {
  const live = isLive(job.state);
  const figures = useQuery({
    queryKey: ["job", job.id, "columns", live, job.updatedAt],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/columns", { params: { path: { job_id: job.id } }, signal })),
    placeholderData: (before) => before,
    refetchInterval: live ? 2000 : false,
  });
  if (!figures.data || figures.data.items.length === 0) return null;
  const { items, rows, total } = figures.data;
  return (
    <ColumnFigures
      figures={items}
      isOpen
      note={
        live && rows < total
          ? `Problems and changes of the first ${count(rows)} rows. The check is running.`
          : live
            ? "The check is running."
            : ""
      }
    />
  );
}

/** Of each column: filled and empty cells, problems, and rows that change the field. */
export function ColumnFigures({
  figures,
  note,
  isOpen = false,
}: {
  figures: Figure[];
  note: string;
  isOpen?: boolean;
}) {
  return (
    <details open={isOpen} className="group rounded-lg border bg-surface">
      <summary className="cursor-pointer px-3 py-2 text-sm font-medium">
        Columns
        {note && <span className="ml-2 font-normal text-ink-2">{note}</span>}
      </summary>
      <div className="max-h-96 overflow-y-auto border-t">
        <Table
          label="Columns of the file"
          head={[
            { label: "Column" },
            { label: "Field", className: "max-sm:hidden" },
            ...["Filled", "Empty", "Warnings", "Errors", "Changes"].map((one) => ({
              label: one,
              className: "text-right",
            })),
          ]}
        >
          {figures.map((one) => (
            <tr key={one.column}>
              <td className="max-w-60 truncate max-sm:max-w-36" title={one.column}>
                {one.column}
              </td>
              <td className="text-ink-2 max-sm:hidden">{fieldOf(one.target)}</td>
              <Count value={one.filled} />
              <Count value={one.empty} />
              <Count value={one.warnings} className="text-not-found" />
              <Count value={one.errors} className="text-error" />
              <Count value={one.changed} />
            </tr>
          ))}
        </Table>
      </div>
    </details>
  );
}

function Count({ value, className = "" }: { value: number | null; className?: string }) {
  return (
    <td className={`text-right tabular-nums ${value ? className : "text-ink-3"}`}>
      {value === null ? "" : count(value)}
    </td>
  );
}

function fieldOf(target: string | null): string {
  if (target === null) return "Custom field";
  return target === "ignore" ? "Not imported" : fieldLabel(target);
}
