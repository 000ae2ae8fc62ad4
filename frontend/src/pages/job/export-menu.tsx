import { useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../components/menu";
import { useDownload } from "../../components/use-download";
import type { FullJob } from "../../lib/api";
import { bytes } from "../../lib/format";
import { SHOP_FORMATS, VARIANT_SHAPES } from "../../lib/shop-formats";
import { useTemplates } from "../../lib/templates";
import { filterOf } from "./filter-of";
import { missingOf } from "./missing";

const FORMATS = [
  ["xlsx", "Excel"],
  ["csv", "CSV"],
  ["json", "JSON"],
  ["ndjson", "NDJSON"],
] as const;

/** The results as a file, while it is written; the browser shows how much has come. */
export function ExportMenu({ job }: { job: FullJob }) {
  const search = useSearch({ from: "/inside/jobs/$jobId" });
  const templates = useTemplates();
  const { got, error, save } = useDownload(job.name);
  const failed = job.counters.error + job.counters.notFound;
  const missing = missingOf(job)?.count ?? 0;
  const filtered = filterOf(search);
  const fetchAs = (format: string, which: string, only = "") =>
    save(`/api/jobs/${job.id}/export?format=${format}&which=${which}&${only}`, format);
  return (
    <>
      <Menu
        trigger={
          <Button busy={got !== null}>
            {got === null && <Download aria-hidden />} {got === null ? "Export" : bytes(got)}
          </Button>
        }
      >
        <MenuLabel>Results without failed rows</MenuLabel>
        {FORMATS.map(([format, label]) => (
          <MenuItem key={format} onSelect={() => void fetchAs(format, "valid")} hint={`.${format}`}>
            {label}
          </MenuItem>
        ))}
        {(templates.data?.items ?? []).length > 0 && (
          <>
            <MenuLine />
            <MenuLabel>With a template</MenuLabel>
            {templates.data?.items.flatMap((one) =>
              ["xlsx", "csv"].map((format) => (
                <MenuItem
                  key={`${one.name} ${format}`}
                  onSelect={() => void fetchAs(format, "valid", `template=${encodeURIComponent(one.name)}`)}
                  hint={`.${format}`}
                >
                  {one.name}
                </MenuItem>
              )),
            )}
          </>
        )}
        {job.pipeline === "extraction" && (
          <>
            <MenuLine />
            <MenuLabel>Products for shop systems</MenuLabel>
            {SHOP_FORMATS.map(([format, label]) => (
              <MenuItem key={format} onSelect={() => void fetchAs(format, "valid")} hint=".csv">
                {label}
              </MenuItem>
            ))}
          </>
        )}
        {job.columns?.includes("variants") && (
          <>
            <MenuLine />
            <MenuLabel>Variants in rows or columns of their own</MenuLabel>
            {VARIANT_SHAPES.flatMap((one) =>
              FORMATS.slice(0, 2).map(([format, label]) => (
                <MenuItem
                  key={`${one.short} ${format}`}
                  onSelect={() => void fetchAs(format, "valid", `variants=${one.given.variants}`)}
                  hint={`.${format}`}
                >
                  {one.short}, {label}
                </MenuItem>
              )),
            )}
          </>
        )}
        <MenuLine />
        <MenuLabel>All rows, with status and problems</MenuLabel>
        <MenuItem onSelect={() => void fetchAs("xlsx", "all")} hint=".xlsx">
          All rows as Excel
        </MenuItem>
        <MenuItem onSelect={() => void fetchAs("csv", "all")} hint=".csv">
          All rows as CSV
        </MenuItem>
        {filtered && (
          <>
            <MenuLine />
            <MenuLabel>Filtered rows only</MenuLabel>
            {FORMATS.map(([format, label]) => (
              <MenuItem
                key={format}
                onSelect={() => void fetchAs(format, "valid", filtered)}
                hint={`.${format}`}
              >
                {label}, filtered
              </MenuItem>
            ))}
          </>
        )}
        <MenuLine />
        <MenuLabel>Failed rows</MenuLabel>
        <MenuItem
          disabled={failed === 0}
          onSelect={() => void fetchAs("xlsx", "original-with-errors")}
          hint=".xlsx"
        >
          Original rows, bad cells marked
        </MenuItem>
        <MenuItem disabled={failed === 0} onSelect={() => void fetchAs("csv", "errors")} hint=".csv">
          One line per problem
        </MenuItem>
        {missing > 0 && (
          <>
            <MenuLine />
            <MenuLabel>Missing products</MenuLabel>
            <MenuItem onSelect={() => void fetchAs("csv", "missing")} hint=".csv">
              In the catalog, not in the file
            </MenuItem>
          </>
        )}
      </Menu>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
