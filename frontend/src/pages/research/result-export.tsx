import { Download } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Menu, MenuItem } from "../../components/menu";
import { toast } from "../../components/toast";
import { download } from "../../lib/download";

const FORMATS = [
  ["xlsx", "Excel"],
  ["csv", "CSV"],
  ["json", "JSON"],
  ["ndjson", "NDJSON"],
] as const;

/** The merged products as a file. */
export function ResultExport({ jobId, name }: { jobId: string; name: string }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fetchAs = async (format: string) => {
    setBusy(true);
    setError(null);
    try {
      await download(`/api/jobs/${jobId}/export?format=${format}`, `${name}.${format}`, () => {});
      toast.success("Saved to your downloads");
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Menu trigger={<Button busy={busy}>{!busy && <Download aria-hidden />} Export</Button>}>
        {FORMATS.map(([format, label]) => (
          <MenuItem key={format} onSelect={() => void fetchAs(format)} hint={`.${format}`}>
            {label}
          </MenuItem>
        ))}
      </Menu>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
