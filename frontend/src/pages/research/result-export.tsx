import { Download } from "lucide-react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Menu, MenuItem } from "../../components/menu";
import { useDownload } from "../../components/use-download";

const FORMATS = [
  ["xlsx", "Excel"],
  ["csv", "CSV"],
  ["json", "JSON"],
  ["ndjson", "NDJSON"],
] as const;

/** The merged products as a file. */
export function ResultExport({ jobId, name }: { jobId: string; name: string }) {
  const { got, error, save } = useDownload(name);
  const busy = got !== null;
  return (
    <>
      <Menu trigger={<Button busy={busy}>{!busy && <Download aria-hidden />} Export</Button>}>
        {FORMATS.map(([format, label]) => (
          <MenuItem
            key={format}
            onSelect={() => void save(`/api/jobs/${jobId}/export?format=${format}`, format)}
            hint={`.${format}`}
          >
            {label}
          </MenuItem>
        ))}
      </Menu>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
