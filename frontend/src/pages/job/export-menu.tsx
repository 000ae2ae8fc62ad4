import { Download } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../components/menu";
import { toast } from "../../components/toast";
import { type FullJob, send } from "../../lib/api";
import { bytes } from "../../lib/format";

const FORMATS = [
  ["xlsx", "Excel"],
  ["csv", "CSV"],
  ["json", "JSON"],
  ["ndjson", "NDJSON"],
] as const;

/** The results as a file, while it is written; the browser shows how much has come. */
export function ExportMenu({ job }: { job: FullJob }) {
  const [got, setGot] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const failed = job.counters.error + job.counters.notFound;
  const download = async (format: string, which: string) => {
    setError(null);
    setGot(0);
    try {
      const response = await send(`/api/jobs/${job.id}/export?format=${format}&which=${which}`, {
        method: "POST",
      });
      const file = await read(response, setGot);
      save(file, nameOf(response) ?? `${job.name}.${format}`);
      toast.success("The file is in your downloads");
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
        <MenuLabel>All results</MenuLabel>
        {FORMATS.map(([format, label]) => (
          <MenuItem key={format} onSelect={() => void download(format, "all")} hint={`.${format}`}>
            {label}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuLabel>What went wrong</MenuLabel>
        <MenuItem
          disabled={failed === 0}
          onSelect={() => void download("xlsx", "original-with-errors")}
          hint=".xlsx"
        >
          Supplier's rows, bad cells marked
        </MenuItem>
        <MenuItem disabled={failed === 0} onSelect={() => void download("csv", "errors")} hint=".csv">
          One line per problem
        </MenuItem>
      </Menu>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}

async function read(response: Response, tell: (bytes: number) => void): Promise<Blob> {
  const reader = response.body?.getReader();
  if (!reader) return response.blob();
  const pieces: BlobPart[] = [];
  let size = 0;
  let told = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (Date.now() - told > 250) {
      told = Date.now();
      tell(size);
    }
  }
  return new Blob(pieces, { type: response.headers.get("Content-Type") ?? "" });
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function nameOf(response: Response): string | null {
  const told = response.headers.get("Content-Disposition") ?? "";
  const full = /filename\*=UTF-8''([^;]+)/.exec(told)?.[1];
  if (full) return decodeURIComponent(full);
  return /filename="([^"]+)"/.exec(told)?.[1] ?? null;
}
