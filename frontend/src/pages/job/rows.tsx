import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { FilterX, Table2 } from "lucide-react";
import {
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Checkbox } from "../../components/field";
import { Grid, type GridColumn, type GridHandle } from "../../components/grid";
import { toast } from "../../components/toast";
import { client, type FullJob, type Item, ok } from "../../lib/api";
import { count, plural } from "../../lib/format";
import { fetchItems, type ItemFilter, ItemPages, type ItemSort, ROW_COLUMN } from "../../lib/item-pages";
import { useShortcuts } from "../../lib/keys";
import { useChanges } from "../../lib/live";
import { setPrefs, usePrefs } from "../../lib/prefs";
import { useCanWrite } from "../../lib/session";
import { COUNTER_OF, isLive } from "../../lib/states";
import { ColumnDialog } from "./column-dialog";
import { itemColumns, type View } from "./columns";
import { RowDrawer } from "./drawer";
import { EditButtons } from "./edits/edit-buttons";
import { applyEdit, MOST_PASTED, parseRange, pastedRows, type RowChange } from "./edits/edits";
import { RowsToolbar } from "./rows-toolbar";
import { holds, isEmpty, NOTHING, type Selection, toggle } from "./selection";
import { SelectionBar } from "./selection-bar";

interface Props {
  job: FullJob;
  filter: ItemFilter;
  row: number | undefined;
  view: View;
  /** More columns, after the row's number. */
  extra?: GridColumn<Item>[];
  empty: ReactNode;
}

/** How many rows match, by the job's counters; null if no counter tells. */
export function matching(job: FullJob, filter: ItemFilter): number | null {
  if (filter.q || filter.problem) return null;
  if (filter.code) return filter.statuses.length ? null : (job.errors[filter.code] ?? 0);
  if (!filter.statuses.length) return job.counters.total;
  return filter.statuses.reduce((sum, status) => sum + job.counters[COUNTER_OF[status]], 0);
}

export function Rows({ job, filter, row, view: firstView, extra = [], empty }: Props) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const { density, columns: taste } = usePrefs();
  const [view, setView] = useState(firstView);
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [sort, setSort] = useState<ItemSort | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const [editError, setEditError] = useState<unknown>(null);
  const grid = useRef<GridHandle>(null);
  const key = JSON.stringify([filter, sort]);
  const dense = !sort && !filter.statuses.length && !filter.code && !filter.problem && !filter.q;
  const pages = useMemo(() => new ItemPages(fetchItems(job.id, filter, sort), dense), [job.id, key]);
  useEffect(() => () => pages.close(), [pages]);
  useSyncExternalStore(pages.subscribe, () => pages.version);
  useEffect(() => setSelection(NOTHING), [key]);
  useChanges(useCallback((jobs) => (jobs === null || jobs.has(job.id)) && pages.refresh(), [pages, job.id]));

  const onWindow = useWindow(pages);
  const known = matching(job, filter);
  const rowCount = dense ? job.counters.total : pages.reach;
  const changeView = (next: View) => {
    setView(next);
    if (sort && sort.column !== ROW_COLUMN) setSort(null);
  };
  const tasteKey = `${job.pipeline}.${view}`;
  const mine = taste[tasteKey] ?? { hidden: [], widths: {} };
  const keep = (change: Partial<typeof mine>) =>
    setPrefs({ columns: { ...taste, [tasteKey]: { ...mine, ...change } } });
  const canEdit = canWrite && !isLive(job.state);

  const select = useCallback(
    (item: Item, range: boolean) => setSelection((now) => toggle(now, item.rowNo, range)),
    [],
  );
  const number: GridColumn<Item> = {
    id: ROW_COLUMN,
    title: "Row",
    frozen: true,
    width: canWrite ? 96 : 72,
    render: (item) => (
      <span className="flex items-center gap-2">
        {canWrite && (
          <Checkbox
            tabIndex={-1}
            aria-label={`Select row ${item.rowNo}`}
            checked={holds(selection, item.rowNo)}
            onChange={(event) => select(item, (event.nativeEvent as MouseEvent).shiftKey)}
          />
        )}
        <span className="font-mono text-xs text-ink-2">{count(item.rowNo)}</span>
      </span>
    ),
  };
  const sample = [0, 1, 2, 3].map((place) => pages.at(place)).filter((item) => item !== undefined);
  const all = itemColumns(job, view, sample, number, extra, mine.widths, canEdit);
  const columns = all.filter((column) => !mine.hidden.includes(column.id));

  const open = (item: Item | null) =>
    void navigate({
      to: "/jobs/$jobId",
      params: { jobId: job.id },
      search: (now) => ({ ...now, row: item?.rowNo }),
      replace: true,
    });
  const edit = async (item: Item, column: string, text: string) => {
    setEditError(null);
    try {
      const done = await ok(
        client.PATCH("/api/jobs/{job_id}/items/{item}", {
          params: { path: { job_id: job.id, item: String(item.rowNo) } },
          body: { input: { [column]: text } },
        }),
      );
      queries.setQueryData(["job", job.id], done.job);
      pages.refresh();
      void queries.invalidateQueries({ queryKey: ["job", job.id, "edits"] });
      toast.success(`Row ${count(item.rowNo)} is corrected and runs again`);
    } catch (problem) {
      setEditError(problem);
    }
  };
  const inputColumns = job.header ?? Object.keys((sample[0]?.input as object | null) ?? {});
  const paste = async (index: number, column: string, text: string) => {
    const shown = columns.filter((one) => one.editable).map((one) => one.id);
    const range = parseRange(text);
    const place = shown.indexOf(column);
    if (place < 0 || range.length === 0) return;
    const one = range.length === 1 && range[0]?.length === 1;
    const chosen = one && selection.rows.size > 0 ? [...selection.rows].sort((a, b) => a - b) : null;
    const rows = chosen ?? rowsFrom(index, Math.min(range.length, rowCount - index));
    if (rows.length > MOST_PASTED) {
      setEditError(new Error(`At most ${count(MOST_PASTED)} rows can be pasted at once.`));
      return;
    }
    setEditError(null);
    try {
      const pasted = pastedRows(range, shown.slice(place), rows);
      const done = await applyEdit(queries, job, {}, { kind: "paste", rows: pasted } as RowChange);
      pages.refresh();
      toast.success(done.rows ? `${plural(done.rows, "row is", "rows are")} changed` : "Nothing to change");
    } catch (problem) {
      setEditError(problem);
    }
  };
  const rowsFrom = (index: number, many: number) =>
    Array.from(
      { length: many },
      (_, n) => pages.at(index + n)?.rowNo ?? (dense ? index + n + 1 : null),
    ).filter((one) => one !== null);
  const focusGrid = (index: number) => grid.current?.goTo(index);
  useShortcuts("Rows", {
    j: ["Go to the grid, next row", () => focusGrid(0)],
    ...(canWrite && {
      x: [
        "Select all matching rows",
        () => known !== null && setSelection({ all: true, rows: new Set(), last: null }),
      ],
    }),
  });

  if (pages.error && !pages.at(0)) {
    return (
      <div className="space-y-2">
        <ErrorNote error={pages.error} onRetry={() => pages.refresh()} />
        {sort && <Button onClick={() => setSort(null)}>Back to the order of the file</Button>}
      </div>
    );
  }
  const none = known === 0 || (pages.isWhole && pages.reach === 0);
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      <RowsToolbar
        job={job}
        filter={filter}
        known={known}
        shown={pages.isWhole ? pages.reach : null}
        view={view}
        onView={changeView}
        sorted={sort && all.find((column) => column.id === sort.column)?.title}
        onUnsort={() => setSort(null)}
        onGoTo={dense ? focusGrid : undefined}
        columns={all.filter((column) => column.id !== ROW_COLUMN)}
        hidden={mine.hidden}
        onHidden={(hidden) => keep({ hidden })}
        actions={
          <EditButtons
            job={job}
            filter={filter}
            columns={inputColumns}
            canEdit={canEdit && job.counters.total > 0}
            onDone={() => pages.refresh()}
          />
        }
      />
      {canWrite && !isEmpty(selection) && (
        <SelectionBar
          job={job}
          filter={filter}
          known={known}
          selection={selection}
          columns={canEdit ? inputColumns : []}
          onChange={setSelection}
          onDone={() => pages.refresh()}
        />
      )}
      {editError !== null && <ErrorNote error={editError} />}
      {none ? (
        <div className="rounded-lg border bg-surface">
          {filter.q || filter.code ? (
            <EmptyState
              icon={FilterX}
              title="No row matches"
              action={
                <Button
                  onClick={() =>
                    void navigate({
                      to: "/jobs/$jobId",
                      params: { jobId: job.id },
                      search: (now) => ({ ...now, q: undefined, code: undefined }),
                    })
                  }
                >
                  Clear filter
                </Button>
              }
            />
          ) : (
            (empty ?? <EmptyState icon={Table2} title="No rows here" />)
          )}
        </div>
      ) : (
        <Grid
          // Another filter is another list, looked at from its top.
          key={key}
          label={`Rows of ${job.name}`}
          handle={grid}
          columns={columns}
          rowCount={rowCount}
          ariaRowCount={known === null ? -1 : known + 1}
          rowHeight={density === "compact" ? 28 : 36}
          rowAt={(index) => pages.at(index)}
          onWindow={onWindow}
          onOpen={open}
          onToggle={canWrite ? select : undefined}
          isSelected={canWrite ? (item) => holds(selection, item.rowNo) : undefined}
          onEdit={canEdit ? edit : undefined}
          sort={sort}
          onColumn={setAsked}
          onWidth={(column, width) => keep({ widths: { ...mine.widths, [column]: width } })}
          onPaste={canEdit && view === "input" ? (...pasted) => void paste(...pasted) : undefined}
          onKey={(event, item) => {
            if (event.key !== "x" || event.ctrlKey || !item || !canWrite) return false;
            select(item, event.shiftKey);
            return true;
          }}
          className="min-h-[320px] flex-1 rounded-lg border bg-surface"
        />
      )}
      {asked !== null && (
        <ColumnDialog
          job={job}
          view={view}
          column={asked}
          title={all.find((column) => column.id === asked)?.title ?? asked}
          sort={sort}
          onSort={setSort}
          onClose={() => setAsked(null)}
        />
      )}
      {row !== undefined && (
        <RowDrawer job={job} row={row} onClose={() => open(null)} onChanged={() => pages.refresh()} />
      )}
    </div>
  );
}

/** While the user scrolls fast, only the rows at which they stop are loaded. */
function useWindow(pages: ItemPages): (first: number, last: number) => void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const begun = useRef(false);
  useEffect(() => () => clearTimeout(timer.current ?? undefined), []);
  return useCallback(
    (first, last) => {
      if (timer.current) clearTimeout(timer.current);
      if (!begun.current) {
        begun.current = true;
        pages.want(first, last);
        return;
      }
      timer.current = setTimeout(() => pages.want(first, last), 60);
    },
    [pages],
  );
}
