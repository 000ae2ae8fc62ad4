import type { PointerEvent } from "react";
import { cn } from "../lib/cn";

interface Props {
  id: string;
  columns: { id: string; title: string; width: number; align?: "right" }[];
  height: number;
  onWidth?: (column: string, width: number) => void;
}

/** Names of the columns; their edges can be dragged. */
export function GridHeader({ id, columns, height, onWidth }: Props) {
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
      {columns.map((column, place) => (
        <div
          key={column.id}
          id={`${id}-h-${place}`}
          role="columnheader"
          aria-colindex={place + 1}
          title={column.title}
          className={cn(
            "relative flex shrink-0 items-center px-2",
            column.align === "right" && "justify-end",
          )}
          style={{ width: column.width }}
        >
          <span className="truncate">{column.title}</span>
          {onWidth && (
            <span
              aria-hidden
              onPointerDown={drag(column.id, column.width)}
              className="absolute inset-y-1 -right-1 z-10 w-2 cursor-col-resize touch-none border-x-[3px] border-transparent bg-line bg-clip-padding hover:bg-accent"
            />
          )}
        </div>
      ))}
    </div>
  );
}
