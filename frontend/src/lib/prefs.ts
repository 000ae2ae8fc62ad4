// What this browser remembers of its user's taste. One object, one key, heard by every component.
import { useSyncExternalStore } from "react";

export interface Prefs {
  theme: "system" | "light" | "dark";
  times: "relative" | "local" | "utc";
  shortcuts: boolean;
  density: "normal" | "compact";
  tour: "never" | "on" | "done";
  columns: Record<string, { hidden: string[]; widths: Record<string, number> }>;
}

const KEY = "penstock.prefs";
const DEFAULTS: Prefs = {
  theme: "system",
  times: "relative",
  shortcuts: true,
  density: "normal",
  tour: "never",
  columns: {},
};

function load(): Prefs {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return DEFAULTS;
  }
}

let current = load();
const listeners = new Set<() => void>();

export function prefs(): Prefs {
  return current;
}

export function setPrefs(change: Partial<Prefs>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A browser that keeps nothing still works for this visit.
  }
  applyTheme();
  for (const tell of listeners) tell();
}

export function usePrefs(): Prefs {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => current,
  );
}

export function isDark(): boolean {
  if (current.theme !== "system") return current.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function applyTheme(): void {
  document.documentElement.classList.toggle("dark", isDark());
}
