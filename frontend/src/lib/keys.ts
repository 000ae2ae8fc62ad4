// Shortcuts: single keys and two-key sequences, never while the user types, and all of them can be turned off.
import { useEffect } from "react";
import { prefs } from "./prefs";

export interface Shortcut {
  keys: string;
  what: string;
  group: string;
  run: () => void;
}

const active = new Map<symbol, Shortcut>();
let begun: string | null = null;
let begunAt = 0;

export function activeShortcuts(): Shortcut[] {
  const seen = new Map<string, Shortcut>();
  for (const one of active.values()) seen.set(one.keys, one);
  return [...seen.values()];
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function find(keys: string): Shortcut | undefined {
  // The newest wins: what is on top hears first.
  return [...active.values()].reverse().find((one) => one.keys === keys);
}

function onKey(event: KeyboardEvent): void {
  if (!prefs().shortcuts || event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (document.querySelector('[role="dialog"], [role="menu"]') && event.key !== "?") {
    if (!(event.target instanceof HTMLElement && event.target.closest('[data-keys="on"]'))) return;
  }
  const now = Date.now();
  const sequence = begun && now - begunAt < 1000 ? `${begun} ${event.key}` : null;
  const hit = (sequence && find(sequence)) || find(event.key);
  begun = null;
  if (hit) {
    event.preventDefault();
    hit.run();
  } else if ([...active.values()].some((one) => one.keys.startsWith(`${event.key} `))) {
    begun = event.key;
    begunAt = now;
  }
}

if (typeof document !== "undefined") document.addEventListener("keydown", onKey);

export function useShortcuts(
  group: string,
  shortcuts: Record<string, [what: string, run: () => void]>,
): void {
  useEffect(() => {
    const ids = Object.entries(shortcuts).map(([keys, [what, run]]) => {
      const id = Symbol(keys);
      active.set(id, { keys, what, group, run });
      return id;
    });
    return () => {
      for (const id of ids) active.delete(id);
    };
  });
}
