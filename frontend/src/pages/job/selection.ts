// What is selected: some rows by number, or everything that matches.
export interface Selection {
  all: boolean;
  rows: ReadonlySet<number>;
  last: number | null;
}

export const NOTHING: Selection = { all: false, rows: new Set(), last: null };
/** As many as one call may name. */
export const MOST_ROWS = 5000;

export function toggle(selection: Selection, row: number, range: boolean): Selection {
  if (selection.all) return { all: false, rows: new Set([row]), last: row };
  const rows = new Set(selection.rows);
  if (range && selection.last !== null) {
    const [from, to] = selection.last < row ? [selection.last, row] : [row, selection.last];
    for (let one = from; one <= to && rows.size < MOST_ROWS; one++) rows.add(one);
  } else if (!rows.delete(row)) {
    rows.add(row);
  }
  return { all: false, rows, last: row };
}

export function holds(selection: Selection, row: number): boolean {
  return selection.all || selection.rows.has(row);
}

export function isEmpty(selection: Selection): boolean {
  return !selection.all && selection.rows.size === 0;
}
