import { Link } from "@tanstack/react-router";
import { Checkbox } from "../../components/field";
import { Badge, ItemPill } from "../../components/status";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import type { Schemas } from "../../lib/api";
import { cn } from "../../lib/cn";
import { count, percent } from "../../lib/format";

export type PendingRow = Schemas["PendingRow"];

interface Props {
  rows: PendingRow[];
  /** Whether rows can be selected at all. */
  selectable: boolean;
  isSelected: (row: PendingRow) => boolean;
  onSelect: (row: PendingRow, range: boolean) => void;
  onSelectAll: (selected: boolean) => void;
  /** Rows of one job, on its own page. */
  inJob?: boolean;
}

export function PendingRows({ rows, selectable, isSelected, onSelect, onSelectAll, inJob }: Props) {
  const all = rows.length > 0 && rows.every(isSelected);
  const some = !all && rows.some(isSelected);
  const boxes = selectable
    ? [
        {
          label: (
            <Checkbox
              aria-label="Select all visible rows"
              checked={all}
              ref={(box) => {
                if (box) box.indeterminate = some;
              }}
              onChange={(event) => onSelectAll(event.target.checked)}
            />
          ),
          className: "w-9 pr-0!",
        },
      ]
    : [];
  return (
    <Table
      label="Open rows"
      head={[
        ...boxes,
        { label: "Row" },
        ...(inJob ? [] : [{ label: "Job", className: "hidden sm:table-cell" }]),
        { label: "Status" },
        { label: "Tries", className: "text-right" },
        { label: "Worker or next retry", className: "hidden lg:table-cell" },
        { label: "Updated", className: "hidden sm:table-cell" },
        ...(inJob
          ? []
          : [
              { label: "Type", className: "hidden md:table-cell" },
              { label: "Job's progress", className: "hidden text-right xl:table-cell" },
            ]),
      ]}
    >
      {rows.map((one) => (
        <tr
          key={one.id}
          className={cn(
            "relative h-9 hover:bg-hover",
            isSelected(one) && "bg-accent-soft hover:bg-accent-soft",
          )}
        >
          {selectable && (
            <td className="pr-0!">
              <Checkbox
                className="relative z-10 block"
                aria-label={inJob ? `Select row ${one.rowNo}` : `Select row ${one.rowNo} of ${one.jobName}`}
                checked={isSelected(one)}
                onChange={(event) => onSelect(one, (event.nativeEvent as MouseEvent).shiftKey === true)}
              />
            </td>
          )}
          <td className="max-w-72 truncate">
            <Link
              to="/jobs/$jobId"
              params={{ jobId: one.jobId }}
              search={inJob ? { tab: "pending", row: one.rowNo } : { row: one.rowNo }}
              className="font-medium after:absolute after:inset-0"
            >
              {one.inputSummary.title || one.inputSummary.sku || `Row ${count(one.rowNo)}`}
            </Link>
            {one.inputSummary.brand && <span className="text-ink-3"> · {one.inputSummary.brand}</span>}
            {(one.inputSummary.title || one.inputSummary.sku) && (
              <span className="text-ink-3"> · row {count(one.rowNo)}</span>
            )}
            {!inJob && <span className="block truncate text-xs text-ink-3 sm:hidden">{one.jobName}</span>}
          </td>
          {!inJob && <td className="hidden max-w-48 truncate text-ink-2 sm:table-cell">{one.jobName}</td>}
          <td>
            <ItemPill status={one.status} />
          </td>
          <td className="text-right">{count(one.attempts)}</td>
          <td className="hidden whitespace-nowrap lg:table-cell">
            <Why row={one} />
          </td>
          <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
            <Time at={one.updatedAt} />
          </td>
          {!inJob && (
            <>
              <td className="hidden md:table-cell">
                <Badge>{one.jobType}</Badge>
              </td>
              <td className="hidden text-right xl:table-cell">{percent(one.progress.percent)}</td>
            </>
          )}
        </tr>
      ))}
    </Table>
  );
}

/** Who has it, or what it waits for. */
function Why({ row }: { row: PendingRow }) {
  if (row.lockedBy) return <span className="font-mono text-xs">{row.lockedBy}</span>;
  if (row.jobState === "paused") return <span className="text-ink-2">the job is paused</span>;
  if (!row.dueAt) return <span className="text-ink-3">in line</span>;
  return (
    <span className="text-ink-2">
      next try <Time at={row.dueAt} />
      {row.errorCode && <span className="font-mono text-xs text-ink-3"> {row.errorCode}</span>}
    </span>
  );
}
