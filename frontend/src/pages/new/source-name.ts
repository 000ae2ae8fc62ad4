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
  hasGtin: boolean;
  /** Sources of products in the catalog that may be the same as the row's. */
  sources: string[];
}

const KNOWN = new Set(["changed", "unchanged", "held"]);

/** The source that the file probably belongs to: no row is a product of the chosen source, and at least half of the
 * rows that can be recognised look like products of one other source. */
export function earlierSource(rows: RowSources[]): { source: string; rows: number } | null {
  const alike = rows.filter((row) => row.sources.length > 0);
  const [source, ...others] = new Set(alike.flatMap((row) => row.sources));
  if (source === undefined || others.length > 0 || source.includes(":")) return null;
  const recognisable = rows.filter((row) => row.hasGtin || row.sources.length > 0);
  const isElsewhere = rows.some((row) => row.match !== null && KNOWN.has(row.match));
  return !isElsewhere && 2 * alike.length >= recognisable.length ? { source, rows: alike.length } : null;
}
