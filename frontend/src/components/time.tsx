import { useEffect, useSyncExternalStore } from "react";
import { usePrefs } from "../lib/prefs";
import { local, relative, utc } from "../lib/time";

// One clock for all times on the page.
let now = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();

function subscribe(tell: () => void): () => void {
  listeners.add(tell);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, 5000);
  return () => {
    listeners.delete(tell);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = null;
    }
  };
}

export function useNow(): number {
  const time = useSyncExternalStore(subscribe, () => now);
  useEffect(() => {
    now = Date.now();
  }, []);
  return time;
}

/** A moment as this user likes it; the other two ways are in the tooltip. */
export function Time({ at, className }: { at: string | null | undefined; className?: string }) {
  const { times } = usePrefs();
  const present = useNow();
  if (!at) return <span className="text-ink-3">–</span>;
  const shown =
    times === "relative"
      ? relative(at, Math.max(present, Date.now() - 5000))
      : times === "local"
        ? local(at)
        : utc(at);
  return (
    <time dateTime={at} title={`${relative(at, Date.now())}\n${local(at)}\n${utc(at)}`} className={className}>
      {shown}
    </time>
  );
}
