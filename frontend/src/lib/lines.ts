/** Pairs of a row and its line; from that row on the line grows with the row. Line 0: unknown. */
export type LineRuns = readonly (readonly number[])[];

/** The line of the file, or the row of the sheet, that a row was read from. */
export function lineOf(runs: LineRuns, row: number): number | null {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((runs[middle]?.[0] ?? 0) <= row) low = middle + 1;
    else high = middle;
  }
  const [first = 0, line = 0] = runs[low - 1] ?? [];
  return line > 0 ? line + row - first : null;
}
