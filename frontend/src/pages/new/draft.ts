// What the wizard has asked so far. It survives a reload: the file is on the server, this is in the tab.
import { useCallback, useState } from "react";
import type { Intent } from "../../lib/intents";
import type { Mapping } from "../../lib/mapping";

export interface Draft {
  encoding?: string;
  delimiter?: string;
  sheet?: string;
  headerRow?: number;
  mapping: Mapping;
  currency?: string;
  decimal?: "comma" | "point";
  dates?: "dmy" | "mdy";
  /** "" is the source that all files without one share; undefined: nothing was proposed yet. */
  source?: string;
  /** Percent by which a known price may change unasked; 0: any change. */
  priceGuard?: number;
  /** Optional fields whose unreadable value makes the row invalid; `*`: all. */
  strict?: string[];
  intent: Intent;
  /** Which of several rows that mean the same product is taken. */
  winner?: "first" | "last" | "most_complete";
  /** What becomes of the source's products that the file lacks. */
  missing?: "report" | "unpublish";
  name?: string;
  priority: "high" | "medium" | "low";
  /** The job that checked the whole file, and the choices it was started with. */
  checked?: { jobId: string; config: string };
  /** Links between sources that were decided here, by `linkKey`. */
  links?: Record<string, "accept" | "refuse">;
}

const EMPTY: Draft = { mapping: {}, intent: "check", priority: "medium" };

function load(file: string | undefined): Draft {
  if (!file) return EMPTY;
  try {
    return { ...EMPTY, ...JSON.parse(sessionStorage.getItem(`penstock.draft.${file}`) ?? "{}") };
  } catch {
    return EMPTY;
  }
}

export function useDraft(file: string | undefined): [Draft, (change: Partial<Draft>) => void] {
  const [held, setHeld] = useState(() => ({ file, draft: load(file) }));
  const draft = held.file === file ? held.draft : load(file);
  const change = useCallback(
    (part: Partial<Draft>) =>
      setHeld((now) => {
        const next = { ...(now.file === file ? now.draft : load(file)), ...part };
        if (file) sessionStorage.setItem(`penstock.draft.${file}`, JSON.stringify(next));
        return { file, draft: next };
      }),
    [file],
  );
  return [draft, change];
}

/** The job's config: what was said, and nothing that was not. */
export function configOf(draft: Draft): Record<string, unknown> {
  const {
    mapping,
    name: _name,
    priority: _priority,
    checked: _checked,
    links: _links,
    intent,
    ...rest
  } = draft;
  const config: Record<string, unknown> = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined && value !== ""),
  );
  if (Object.keys(mapping).length) config.mapping = mapping;
  if (intent !== "check") config.intent = intent;
  return config;
}

/** The choices that decide what rows become, whatever is then written. */
export function readingOf(draft: Draft): string {
  const { intent: _intent, missing: _missing, ...config } = configOf(draft);
  return JSON.stringify(config);
}
