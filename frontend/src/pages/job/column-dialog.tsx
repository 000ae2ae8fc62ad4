import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowDown, ArrowUp } from "lucide-react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { RowsSkeleton } from "../../components/skeleton";
import { client, type FullJob, ok } from "../../lib/api";
import { count, plural, share } from "../../lib/format";
import { type ItemSort, ROW_COLUMN } from "../../lib/item-pages";
import type { View } from "./columns";

interface Props {
  job: FullJob;
  view: View;
  column: string;
  title: string;
  sort: ItemSort | null;
  onSort: (sort: ItemSort | null) => void;
  onClose: () => void;
}

/** Sorts by a column and shows which values it has. */
export function ColumnDialog({ job, view, column, title, sort, onSort, onClose }: Props) {
  const hasValues = !column.startsWith("#");
  const canSort = hasValues || column === ROW_COLUMN;
  const choose = (next: ItemSort | null) => {
    onSort(next);
    onClose();
  };
  const here = sort?.column === column;
  return (
    <Dialog open onOpenChange={onClose} title={title}>
      <div className="space-y-4 pb-3">
        {canSort ? (
          <div className="flex flex-wrap gap-2">
            <Button
              aria-pressed={here && !sort.down}
              onClick={() => choose(column === ROW_COLUMN ? null : { column, view, down: false })}
            >
              <ArrowUp aria-hidden /> Sort ascending
            </Button>
            <Button aria-pressed={here && sort.down} onClick={() => choose({ column, view, down: true })}>
              <ArrowDown aria-hidden /> Sort descending
            </Button>
            {sort && (
              <Button look="quiet" onClick={() => choose(null)}>
                Order of the file
              </Button>
            )}
          </div>
        ) : (
          <p className="text-sm text-ink-2">Rows cannot be sorted by this column.</p>
        )}
        {hasValues && <Values job={job} view={view} column={column} onClose={onClose} />}
      </div>
    </Dialog>
  );
}

function Values({ job, view, column, onClose }: Pick<Props, "job" | "view" | "column" | "onClose">) {
  const navigate = useNavigate();
  const values = useQuery({
    queryKey: ["job", job.id, "column-values", view, column, job.updatedAt],
    queryFn: ({ signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/column-values", {
          params: { path: { job_id: job.id }, query: { column, view } },
          signal,
        }),
      ),
  });
  if (values.error) return <ErrorNote error={values.error} onRetry={() => void values.refetch()} />;
  const found = values.data;
  if (!found) return <RowsSkeleton />;
  const most = found.top[0]?.rows ?? 1;
  const search = (value: string) => {
    onClose();
    void navigate({
      to: "/jobs/$jobId",
      params: { jobId: job.id },
      search: (now) => ({ ...now, q: value.slice(0, 200) }),
    });
  };
  return (
    <section aria-label="Values" className="space-y-3">
      {found.isSample && (
        <p className="text-sm text-ink-2">
          Counted in {count(found.rows)} of {count(found.total)} rows, spread evenly over the job.
        </p>
      )}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        <dt className="text-ink-2">Empty</dt>
        <dd>
          {count(found.empty)} ({share(found.rows ? found.empty / found.rows : 0)})
        </dd>
        <dt className="text-ink-2">Different values</dt>
        <dd>{count(found.distinct)}</dd>
        {found.numbers > 0 && (
          <>
            <dt className="text-ink-2">Numbers</dt>
            <dd>
              {count(found.numbers)}, from {found.min} to {found.max}
            </dd>
          </>
        )}
      </dl>
      {found.top.length > 0 && (
        <ul className="space-y-1">
          {found.top.map((one) => (
            <li key={one.value}>
              <button
                type="button"
                onClick={() => search(one.value)}
                title="Search for this value"
                className="relative flex w-full items-center gap-2 overflow-hidden rounded px-2 py-1 text-left text-sm hover:bg-hover"
              >
                <span
                  aria-hidden
                  className="absolute inset-y-0 left-0 bg-accent-soft"
                  style={{ width: `${(100 * one.rows) / most}%` }}
                />
                <span className="relative min-w-0 flex-1 truncate">{one.value}</span>
                <span className="relative shrink-0 text-ink-2">{plural(one.rows, "row")}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
