// Filters as the URL holds them: `running,queued` takes these, `!done` takes all but that.
export interface Chosen<T extends string> {
  only: T[];
  not: T[];
}

export function parseChosen<T extends string>(text: string | undefined, known: readonly T[]): Chosen<T> {
  const words = (text ?? "").split(",").filter(Boolean);
  const keep = (list: string[]) => known.filter((one) => list.includes(one));
  return {
    only: keep(words.filter((word) => !word.startsWith("!"))),
    not: keep(words.filter((word) => word.startsWith("!")).map((word) => word.slice(1))),
  };
}

export function chosenText<T extends string>(chosen: Chosen<T>): string | undefined {
  const text = [...chosen.only, ...chosen.not.map((one) => `!${one}`)].join(",");
  return text || undefined;
}

/** Off, only this, all but this, off again. */
export function cycle<T extends string>(chosen: Chosen<T>, one: T): Chosen<T> {
  const without = (list: T[]) => list.filter((other) => other !== one);
  if (chosen.only.includes(one)) return { only: without(chosen.only), not: [...chosen.not, one] };
  if (chosen.not.includes(one)) return { only: chosen.only, not: without(chosen.not) };
  return { only: [...chosen.only, one], not: chosen.not };
}

/** What to ask the server for; none: everything. */
export function wanted<T extends string>(chosen: Chosen<T>, known: readonly T[]): T[] {
  const base = chosen.only.length ? chosen.only : chosen.not.length ? [...known] : [];
  return base.filter((one) => !chosen.not.includes(one));
}
