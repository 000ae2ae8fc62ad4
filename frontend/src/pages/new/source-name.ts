// Which source a file's products probably belong to, by the file's name.

/** Without the ending, dates, versions and words that say nothing; "" where nothing is left. */
export function proposeSource(fileName: string): string {
  return fileName
    .replace(/(\.[a-z0-9]{1,5})+$/i, "")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word && !/^v?\d+$/.test(word) && !NOISE.has(word))
    .join("-")
    .slice(0, 100);
}

const NOISE = new Set(["copy", "kopie", "final", "new", "neu", "export", "download", "list", "file"]);

interface RowSources {
  match: string | null;
  /** Sources of products in the catalog that may be the same as the row's and have the same id there. */
  sources: string[];
}

const KNOWN = new Set(["changed", "unchanged", "held"]);

/** The source that the file probably belongs to: no row is a product of the chosen source, but rows have the GTINs and
 * the ids of products of one other source. Two suppliers may sell the same article, but not under the same id. */
export function earlierSource(rows: RowSources[]): { source: string; rows: number } | null {
  const alike = rows
    .map((row) => row.sources.filter((one) => !one.includes(":")))
    .filter((one) => one.length);
  const [source, ...others] = new Set(alike.flat());
  const isKnown = rows.some((row) => row.match !== null && KNOWN.has(row.match));
  return source === undefined || others.length > 0 || isKnown ? null : { source, rows: alike.length };
}
