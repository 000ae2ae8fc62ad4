import {
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { cn } from "../lib/cn";
import { Scroll } from "../lib/scroll";
import { EditCell } from "./grid-edit";
import { GridHeader } from "./grid-header";

export interface GridColumn<R> {
  id: string;
  title: string;
  width: number;
  render: (row: R) => ReactNode;
  /** The cell's text as it may be edited; null: not this cell. */
  editable?: (row: R) => string | null;
  className?: (row: R) => string | undefined;
  align?: "right";
  /** Stays in sight while the others are scrolled sideways. Only the first columns can. */
  frozen?: boolean;
}

export interface GridHandle {
  goTo: (index: number) => void;
}

interface Props<R> {
  label: string;
  columns: GridColumn<R>[];
  rowCount: number;
  /** What assistive technology is told; -1 if the number is unknown. */
  ariaRowCount?: number;
  rowHeight: number;
  rowAt: (index: number) => R | undefined;
  onWindow: (first: number, last: number) => void;
  onOpen?: (row: R, index: number) => void;
  onToggle?: (row: R, range: boolean) => void;
  isSelected?: (row: R) => boolean;
  onEdit?: (row: R, column: string, text: string) => Promise<void>;
  onWidth?: (column: string, width: number) => void;
  sort?: { column: string; down: boolean } | null;
  /** The header of a column was chosen. */
  onColumn?: (column: string) => void;
  onKey?: (event: KeyboardEvent, row: R | undefined) => boolean;
  /** A text was pasted while this cell has the focus. */
  onPaste?: (index: number, column: string, text: string) => void;
  className?: string;
  handle?: Ref<GridHandle>;
}

const HEADER = 32;
// The row of the header, for the focus.
const TOP = -1;
// Frozen columns take at most this share of the width.
const MOST_FROZEN = 0.6;

/** Any number of rows, few of them drawn. The arrow keys move one focus over all of them. */
export function Grid<R>(props: Props<R>) {
  const { columns, rowCount, rowHeight, rowAt, onWindow } = props;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [view, setView] = useState(400);
  const [viewWidth, setViewWidth] = useState(1000);
  const [offset, setOffset] = useState(0);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const [editing, setEditing] = useState(false);
  const expectedTop = useRef(0);
  const scroll = useMemo(
    () => new Scroll(rowCount, rowHeight, Math.max(rowHeight, view - HEADER)),
    [rowCount, rowHeight, view],
  );
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  const lefts = frozenLefts(columns, viewWidth * MOST_FROZEN);
  const frozenWidth = lefts.length ? (lefts.at(-1) ?? 0) + (columns[lefts.length - 1]?.width ?? 0) : 0;
  const frozen = (place: number) =>
    place < lefts.length
      ? {
          className: cn("sticky z-[1]", place === lefts.length - 1 && "border-r border-line"),
          style: { left: lefts[place] },
        }
      : null;

  const moveTo = useCallback(
    (wanted: number) => {
      const next = scroll.clamp(wanted);
      setOffset(next);
      expectedTop.current = scroll.scrollTopOf(next);
      if (box.current) box.current.scrollTop = expectedTop.current;
    },
    [scroll],
  );

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => {
      setView(element.clientHeight);
      setViewWidth(element.clientWidth);
    };
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    measure();
    return () => watch.disconnect();
  }, []);

  // With a scaled scrollbar one notch of the wheel would leap over rows: it moves the rows itself.
  useEffect(() => {
    const element = box.current;
    if (!element || !scroll.isScaled) return;
    const onWheel = (event: WheelEvent) => {
      if (event.ctrlKey || event.deltaY === 0) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? rowHeight : event.deltaMode === 2 ? scroll.view : 1;
      setOffset((now) => {
        const next = scroll.clamp(now + event.deltaY * unit);
        expectedTop.current = scroll.scrollTopOf(next);
        element.scrollTop = expectedTop.current;
        return next;
      });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [scroll, rowHeight]);

  const onScroll = () => {
    const top = box.current?.scrollTop ?? 0;
    if (scroll.isScaled && Math.abs(top - expectedTop.current) < 1.5) return;
    expectedTop.current = top;
    setOffset(scroll.offsetOf(top));
  };

  // A list that got shorter must not leave the grid looking at nothing.
  useEffect(() => {
    if (offset > scroll.end) moveTo(scroll.end);
  }, [scroll, offset, moveTo]);
  useEffect(() => {
    if (active.row >= rowCount && rowCount > 0) setActive((now) => ({ ...now, row: rowCount - 1 }));
  }, [active.row, rowCount]);

  const { first, count } = scroll.window(offset);
  useEffect(() => onWindow(first, first + count), [onWindow, first, count]);

  const focusActive = useCallback(
    (row: number, column: number) => {
      setActive({ row, column });
      setEditing(false);
      if (row !== TOP) moveTo(scroll.showing(row, offset));
      const place = row === TOP ? `${id}-h-${column}` : `${id}-${row}-${column}`;
      requestAnimationFrame(() => document.getElementById(place)?.focus({ preventScroll: true }));
      const cell = document.getElementById(`${id}-h-${column}`);
      cell?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    },
    [id, moveTo, offset, scroll],
  );

  useImperativeHandle(
    props.handle,
    () => ({ goTo: (index) => focusActive(Math.max(0, Math.min(rowCount - 1, index)), 0) }),
    [focusActive, rowCount],
  );

  const onKeyDown = (event: KeyboardEvent) => {
    if (editing || event.altKey || event.metaKey) return;
    const row = rowAt(active.row);
    if (props.onKey?.(event, row)) {
      event.preventDefault();
      return;
    }
    const page = Math.max(1, Math.floor(scroll.view / rowHeight) - 1);
    const last = rowCount - 1;
    const wide = columns.length - 1;
    const goes: Record<string, [number, number]> = {
      ArrowDown: [active.row + 1, active.column],
      ArrowUp: [active.row === 0 && props.onColumn ? TOP : active.row - 1, active.column],
      ArrowRight: [active.row, active.column + 1],
      ArrowLeft: [active.row, active.column - 1],
      PageDown: [active.row + page, active.column],
      PageUp: [active.row - page, active.column],
      Home: event.ctrlKey ? [0, 0] : [active.row, 0],
      End: event.ctrlKey ? [last, wide] : [active.row, wide],
    };
    const to = goes[event.key];
    if (to) {
      event.preventDefault();
      const lowest = active.row <= 0 && props.onColumn && event.key.startsWith("Arrow") ? TOP : 0;
      focusActive(Math.max(lowest, Math.min(last, to[0])), Math.max(0, Math.min(wide, to[1])));
    } else if (active.row === TOP && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      const column = columns[active.column];
      if (column) props.onColumn?.(column.id);
    } else if (!row || event.ctrlKey) {
      return;
    } else if (event.key === "Enter") {
      event.preventDefault();
      props.onOpen?.(row, active.row);
    } else if (event.key === "F2" && columns[active.column]?.editable?.(row) != null) {
      event.preventDefault();
      setEditing(true);
    } else if (event.key === " ") {
      event.preventDefault();
      props.onToggle?.(row, event.shiftKey);
    }
  };

  const rows: ReactNode[] = [];
  for (let index = first; index < first + count; index++) {
    const row = rowAt(index);
    const selected = row !== undefined && (props.isSelected?.(row) ?? false);
    rows.push(
      <div
        key={index}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={props.isSelected ? selected : undefined}
        className={cn(
          "absolute left-0 flex border-b bg-surface",
          selected && "bg-accent-soft",
          row && props.onOpen && "hover:bg-hover",
        )}
        style={{ top: HEADER + index * rowHeight - offset, height: rowHeight, width, minWidth: "100%" }}
      >
        {columns.map((column, place) => {
          const here = active.row === index && active.column === place;
          const text = row === undefined ? null : (column.editable?.(row) ?? null);
          const stays = frozen(place);
          return (
            <div
              key={column.id}
              id={`${id}-${index}-${place}`}
              role="gridcell"
              aria-colindex={place + 1}
              aria-readonly={props.onEdit ? text === null : undefined}
              tabIndex={here ? 0 : -1}
              onFocus={() => setActive({ row: index, column: place })}
              onClick={(event) => {
                setActive({ row: index, column: place });
                const inner = (event.target as HTMLElement).closest("input, button, a");
                if (row !== undefined && !inner && text === null) props.onOpen?.(row, index);
              }}
              onKeyDown={undefined}
              onDoubleClick={() => text !== null && setEditing(true)}
              className={cn(
                "flex shrink-0 items-center overflow-hidden px-2 text-sm -outline-offset-2",
                column.align === "right" && "justify-end",
                stays && ["bg-inherit", stays.className],
                row && column.className?.(row),
              )}
              style={{ width: column.width, ...stays?.style }}
            >
              {row === undefined ? (
                <span className="shimmer h-2.5 w-2/3 rounded" />
              ) : here && editing && text !== null && props.onEdit ? (
                <EditCell
                  text={text}
                  label={`${column.title}, row ${index + 1}`}
                  onDone={(next) => {
                    setEditing(false);
                    requestAnimationFrame(() => document.getElementById(`${id}-${index}-${place}`)?.focus());
                    if (next !== null && next !== text) void props.onEdit?.(row, column.id, next);
                  }}
                />
              ) : (
                <span className="min-w-0 truncate">{column.render(row)}</span>
              )}
            </div>
          );
        })}
      </div>,
    );
  }

  return (
    <div
      ref={box}
      role="grid"
      aria-label={props.label}
      aria-rowcount={props.ariaRowCount ?? rowCount + 1}
      aria-colcount={columns.length}
      aria-multiselectable={props.isSelected ? true : undefined}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
      onPaste={(event) => {
        const column = columns[active.column];
        if (editing || !props.onPaste || !column) return;
        event.preventDefault();
        props.onPaste(active.row, column.id, event.clipboardData.getData("text/plain"));
      }}
      tabIndex={-1}
      className={cn("relative overflow-auto outline-none [overflow-anchor:none]", props.className)}
      style={{ scrollPaddingLeft: frozenWidth }}
    >
      <div style={{ height: scroll.contentHeight + HEADER, width, minWidth: "100%" }}>
        {/* Clipped, not hidden: a scroll container here would hold the frozen columns. */}
        <div className="sticky top-0 overflow-clip" style={{ height: view, width, minWidth: "100%" }}>
          <GridHeader
            id={id}
            columns={columns}
            height={HEADER}
            active={active.row === TOP ? active.column : null}
            sort={props.sort}
            frozen={frozen}
            onFocus={(column) => setActive({ row: TOP, column })}
            onColumn={props.onColumn}
            onWidth={props.onWidth}
          />
          {rows}
        </div>
      </div>
    </div>
  );
}

/** Where the frozen columns stay, as many of the first ones as fit into the width. */
export function frozenLefts(columns: { width: number; frozen?: boolean }[], most: number): number[] {
  const lefts: number[] = [];
  let left = 0;
  for (const column of columns) {
    if (!column.frozen || left + column.width > most) break;
    lefts.push(left);
    left += column.width;
  }
  return lefts;
}
