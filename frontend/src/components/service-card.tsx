import type { QueryKey } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { MoreHorizontal } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { Menu } from "./menu";

// Parts of the cards of shops, sources and watchers.

interface HeaderProps {
  title: string;
  /** A line below the title; cut off where it is too long, so `address` shows it whole. */
  subtitle: ReactNode;
  address: string;
  children: ReactNode;
}

/** Title and address; `children` are the badges of the state. */
export function CardHeader({ title, subtitle, address, children }: HeaderProps) {
  return (
    <header className="flex items-start gap-2">
      <div className="min-w-0 flex-1">
        <h2 className="truncate text-base font-semibold" title={title}>
          {title}
        </h2>
        <p className="truncate text-sm text-ink-2" title={address}>
          {subtitle}
        </p>
      </div>
      {children}
    </header>
  );
}

export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-2 gap-x-4 gap-y-1 text-sm">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="truncate">{children}</dd>
    </div>
  );
}

/** The error of the last test, import or scan. */
export function LastError({ error }: { error: { code: string; message: string } | null | undefined }) {
  if (!error) return null;
  return (
    <p
      role="status"
      className="rounded-md border border-error/30 bg-error-bg px-3 py-2 text-sm break-words text-error"
    >
      {error.message} <span className="font-mono text-xs">{error.code}</span>
    </p>
  );
}

/** The menu at the end of a card; `children` are its items. */
export function MoreMenu({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <Button size="icon-sm" look="quiet" className="ml-auto" aria-label={`More for ${name}`}>
          <MoreHorizontal aria-hidden />
        </Button>
      }
    >
      {children}
    </Menu>
  );
}

/** Runs one action of a card at a time, shows its error, and loads the list again. */
export function useCardActions<Action extends string>(queryKey: QueryKey) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<Action | null>(null);
  const [error, setError] = useState<unknown>(null);
  const again = () => queries.invalidateQueries({ queryKey });
  const run = async (what: Action | null, act: () => Promise<unknown>) => {
    setBusy(what);
    setError(null);
    try {
      await act();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(null);
      void again();
    }
  };
  return { busy, error, run, again };
}
