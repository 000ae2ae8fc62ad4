import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Menu as MenuIcon, Plus, Search, TriangleAlert } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { useShortcuts } from "../lib/keys";
import { live, useLiveState } from "../lib/live";
import { queueQuery } from "../lib/queries";
import { useCanWrite, useSession } from "../lib/session";
import { NAV } from "../nav";
import { Button } from "./button";
import { Kbd } from "./kbd";
import { LiveBadge } from "./live-badge";
import { Mark } from "./mark";
import { Menu, MenuItem } from "./menu";
import { Operations } from "./operations";
import { ShortcutHelp } from "./shortcut-help";
import { cycleTheme, ThemeButton } from "./theme-button";
import { UserMenu } from "./user-menu";

const loadPalette = () => import("./palette");
const Palette = lazy(loadPalette);

export default function Shell() {
  const session = useSession();
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const [palette, setPalette] = useState(false);
  const [help, setHelp] = useState(false);
  const pages = useMemo(() => NAV.filter((page) => page.shown?.(session) ?? true), [session]);

  useEffect(() => {
    // Loaded before it is asked for, so that no letter typed after Ctrl-K is lost; while the server is
    // away it is loaded when it is asked for.
    const soon = setTimeout(() => void loadPalette().catch(() => undefined), 1000);
    return () => clearTimeout(soon);
  }, []);
  useEffect(() => {
    live.start();
    return () => live.end();
  }, []);
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setPalette((shown) => !shown);
      }
    };
    document.addEventListener("keydown", open);
    return () => document.removeEventListener("keydown", open);
  }, []);
  useShortcuts("Everywhere", {
    ...Object.fromEntries(
      pages.map((page) => [`g ${page.key}`, [`Go to ${page.label}`, () => void navigate({ to: page.to })]]),
    ),
    "/": ["Search", () => setPalette(true)],
    t: ["Theme: light, dark or system", cycleTheme],
    "?": ["This list", () => setHelp(true)],
    ...(canWrite ? { n: ["New job", () => void navigate({ to: "/new" })] } : {}),
  });

  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="sr-only z-50 rounded bg-accent px-3 py-1 text-accent-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      <nav aria-label="Main" className="hidden w-52 shrink-0 flex-col border-r bg-surface md:flex">
        <Link to="/jobs" className="flex h-12 items-center gap-2 px-4 font-semibold">
          <Mark className="size-6" /> Penstock
        </Link>
        {canWrite && (
          <div className="px-3 pb-2">
            <Button asChild look="primary" className="w-full">
              <Link to="/new">
                <Plus aria-hidden /> New job
              </Link>
            </Button>
          </div>
        )}
        <ul className="flex-1 space-y-0.5 overflow-y-auto px-3 py-1">
          {pages.map((page) => (
            <li key={page.to}>
              <Link
                to={page.to}
                className="flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm font-medium text-ink-2 hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:text-accent [&_svg]:size-4"
              >
                <page.icon aria-hidden /> {page.label}
              </Link>
            </li>
          ))}
        </ul>
        <button
          type="button"
          onClick={() => setHelp(true)}
          className="mx-3 mb-3 flex h-8 items-center justify-between rounded-md px-2.5 text-xs text-ink-3 hover:bg-hover hover:text-ink"
        >
          Keyboard shortcuts <Kbd keys="?" />
        </button>
      </nav>
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-surface px-3 sm:px-4">
          <div className="md:hidden">
            <Menu
              align="start"
              trigger={
                <Button look="quiet" size="icon" aria-label="Menu">
                  <MenuIcon aria-hidden />
                </Button>
              }
            >
              {canWrite && (
                <MenuItem icon={Plus} onSelect={() => void navigate({ to: "/new" })}>
                  New job
                </MenuItem>
              )}
              {pages.map((page) => (
                <MenuItem key={page.to} icon={page.icon} onSelect={() => void navigate({ to: page.to })}>
                  {page.label}
                </MenuItem>
              ))}
            </Menu>
          </div>
          <span
            className="hidden max-w-48 truncate text-sm text-ink-2 sm:block"
            title="Your organisation and its plan"
          >
            {session.user.org.name} <span className="text-ink-3">· {session.user.org.plan}</span>
          </span>
          <LiveBadge />
          <Operations />
          <div className="flex-1" />
          <button
            type="button"
            onClick={() => setPalette(true)}
            className="flex h-8 items-center gap-2 rounded-md border border-line-strong bg-surface px-2.5 text-sm text-ink-3 hover:bg-hover sm:w-56"
          >
            <Search className="size-4" aria-hidden />
            <span className="hidden flex-1 text-left sm:block">Search …</span>
            <span className="sr-only sm:hidden">Search</span>
            <span className="hidden sm:block">
              <Kbd keys="Ctrl K" />
            </span>
          </button>
          <ThemeButton />
          <UserMenu onHelp={() => setHelp(true)} />
        </header>
        <Notices />
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 overflow-y-auto outline-none">
          <Outlet />
        </main>
      </div>
      <ShortcutHelp open={help} onOpenChange={setHelp} />
      <Suspense>{palette && <Palette onClose={() => setPalette(false)} pages={pages} />}</Suspense>
    </div>
  );
}

/** Notices about the whole installation: no worker runs, or too many jobs wait. */
function Notices() {
  const queue = useQuery(queueQuery).data;
  const connection = useLiveState();
  if (connection === "reconnecting") {
    return (
      <Notice>
        The server does not answer. What you see may be old; this page connects again by itself.
      </Notice>
    );
  }
  if (!queue) return null;
  if (queue.workers === 0) {
    return (
      <Notice>
        No worker is running, so no job makes progress. Start one with{" "}
        <code className="font-mono">penstock worker</code>, or open a job and choose “Process now”.
      </Notice>
    );
  }
  if (queue.level === "critical" || queue.level === "overload") {
    return (
      <Notice>
        The queue is full ({queue.depth} jobs): new jobs are{" "}
        {queue.level === "overload" ? "refused" : "mostly refused"} until it has drained. What was accepted
        goes on.
      </Notice>
    );
  }
  return null;
}

function Notice({ children }: { children: React.ReactNode }) {
  return (
    <div
      role="status"
      className="flex items-center gap-2 border-b border-not-found/30 bg-not-found-bg px-4 py-1.5 text-sm text-not-found"
    >
      <TriangleAlert className="size-4 shrink-0" aria-hidden />
      <span>{children}</span>
    </div>
  );
}
