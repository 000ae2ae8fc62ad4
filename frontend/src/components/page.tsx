import { type ReactNode, useEffect } from "react";
import { cn } from "../lib/cn";

interface Props {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** The page fills the window and scrolls inside, as grids do. */
  filled?: boolean;
  /** Beside the title. */
  beside?: ReactNode;
}

export function Page({ title, lead, actions, children, filled, beside }: Props) {
  useEffect(() => {
    document.title = `${title} – Penstock`;
  }, [title]);
  return (
    <div
      className={cn(
        "mx-auto flex w-full max-w-[1600px] flex-col px-4 py-5 sm:px-6",
        filled && "h-full min-h-0",
      )}
    >
      <header className="mb-4 flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="min-w-0 truncate text-xl font-semibold">{title}</h1>
            {beside}
          </div>
          {lead && <div className="mt-0.5 text-sm text-ink-2">{lead}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Card({ children, className }: { children: ReactNode; className?: string }) {
  return <section className={cn("rounded-lg border bg-surface", className)}>{children}</section>;
}
