import { Download } from "lucide-react";
import { useState } from "react";
import { download } from "../lib/download";
import { bytes } from "../lib/format";
import { Button } from "./button";
import { ErrorNote } from "./error-note";
import { Menu, MenuItem } from "./menu";

/** What matches a filter, as a file in one of the formats. */
export function ExportAs({
  path,
  name,
  filter,
}: {
  path: string;
  name: string;
  filter: Record<string, string>;
}) {
  const [got, setGot] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const fetchAs = async (format: string) => {
    setError(null);
    setGot(0);
    const given = Object.entries(filter).filter(([, value]) => value);
    try {
      const query = new URLSearchParams([...given, ["format", format]]);
      await download(`${path}?${query}`, `${name}.${format}`, setGot);
    } catch (problem) {
      setError(problem);
    } finally {
      setGot(null);
    }
  };
  return (
    <>
      <Menu
        trigger={
          <Button busy={got !== null}>
            {got === null && <Download aria-hidden />} {got === null ? "Export" : bytes(got)}
          </Button>
        }
      >
        {["xlsx", "csv", "json", "ndjson"].map((format) => (
          <MenuItem key={format} onSelect={() => void fetchAs(format)} hint={`.${format}`}>
            {format.toUpperCase()}
          </MenuItem>
        ))}
      </Menu>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
