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
