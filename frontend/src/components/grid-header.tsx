import { ArrowDown, ArrowUp } from "lucide-react";
import type { CSSProperties, PointerEvent } from "react";
import { cn } from "../lib/cn";

interface Props {
  id: string;
  columns: { id: string; title: string; width: number; align?: "right" }[];
  height: number;
  /** The column that has the focus, if one of the header has it. */
  active: number | null;
  sort?: { column: string; down: boolean } | null;
  frozen: (place: number) => { className: string; style: CSSProperties } | null;
  onFocus: (place: number) => void;
  /** A column was chosen by click or key. */
  onColumn?: (column: string) => void;
  onWidth?: (column: string, width: number) => void;
}

/** Names of the columns; their edges can be dragged. */
export function GridHeader(props: Props) {
  const { id, columns, height, active, sort, onColumn, onWidth } = props;
  const drag = (column: string, width: number) => (event: PointerEvent<HTMLSpanElement>) => {
    event.preventDefault();
    const from = event.clientX;
    const target = event.currentTarget;
    target.setPointerCapture(event.pointerId);
    const move = (moved: globalThis.PointerEvent) =>
      onWidth?.(column, Math.max(56, Math.min(900, width + moved.clientX - from)));
    target.addEventListener("pointermove", move);
    target.addEventListener("lostpointercapture", () => target.removeEventListener("pointermove", move), {
      once: true,
    });
  };
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="absolute top-0 left-0 z-10 flex border-b bg-sunken text-xs font-medium text-ink-2"
      style={{ height, minWidth: "100%" }}
    >
      {columns.map((column, place) => {
        const frozen = props.frozen(place);
        const sorted = sort?.column === column.id;
        return (
          <div
            key={column.id}
            id={`${id}-h-${place}`}
            role="columnheader"
            aria-colindex={place + 1}
            aria-sort={sorted ? (sort.down ? "descending" : "ascending") : undefined}
            tabIndex={onColumn ? (active === place ? 0 : -1) : undefined}
            title={onColumn ? `${column.title}: sort, show values` : column.title}
            onFocus={() => props.onFocus(place)}
            onClick={(event) => {
              if (!(event.target as HTMLElement).dataset.edge) onColumn?.(column.id);
            }}
            onKeyDown={undefined}
            className={cn(
              "relative flex shrink-0 items-center gap-1 bg-sunken px-2 -outline-offset-2",
              column.align === "right" && "justify-end",
              onColumn && "cursor-pointer hover:bg-hover hover:text-ink",
              frozen && [frozen.className, "z-20"],
            )}
            style={{ width: column.width, ...frozen?.style }}
          >
            <span className="truncate">{column.title}</span>
            {sorted &&
              (sort.down ? (
                <ArrowDown className="size-3 shrink-0" aria-hidden />
              ) : (
                <ArrowUp className="size-3 shrink-0" aria-hidden />
              ))}
            {onWidth && (
              <span
                aria-hidden
                data-edge="true"
                onPointerDown={drag(column.id, column.width)}
                className="absolute inset-y-1 -right-1 z-10 w-2 cursor-col-resize touch-none border-x-[3px] border-transparent bg-line bg-clip-padding hover:bg-accent"
              />
            )}
          </div>
        );
      })}
    </div>
  );
}
