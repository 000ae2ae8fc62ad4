import { Download } from "lucide-react";
import { Fragment } from "react";
import { bytes } from "../lib/format";
import { SHOP_FORMATS } from "../lib/shop-formats";
import { Button } from "./button";
import { ErrorNote } from "./error-note";
import { Menu, MenuItem, MenuLabel, MenuLine } from "./menu";
import { useDownload } from "./use-download";

/** What matches a filter, as a file in one of the formats. */
export function ExportAs({
  path,
  name,
  filter,
  more = [],
  shops = false,
}: {
  path: string;
  name: string;
  filter: Record<string, string>;
  /** Other shapes of the file, as Excel and CSV. */
  more?: { label: string; given: Record<string, string> }[];
  /** Also as the files that shop systems import. */
  shops?: boolean;
}) {
  const { got, error, save } = useDownload(name);
  const fetchAs = (format: string, also: Record<string, string> = {}) => {
    const given = Object.entries({ ...filter, ...also }).filter(([, value]) => value);
    return save(`${path}?${new URLSearchParams([...given, ["format", format]])}`, format);
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
        {shops && (
          <>
            <MenuLine />
            <MenuLabel>For shop systems</MenuLabel>
            {SHOP_FORMATS.map(([format, label]) => (
              <MenuItem key={format} onSelect={() => void fetchAs(format)} hint=".csv">
                {label}
              </MenuItem>
            ))}
          </>
        )}
        {more.map((one) => (
          <Fragment key={one.label}>
            <MenuLine />
            <MenuLabel>{one.label}</MenuLabel>
            {["xlsx", "csv"].map((format) => (
              <MenuItem key={format} onSelect={() => void fetchAs(format, one.given)} hint={`.${format}`}>
                {one.label} as {format.toUpperCase()}
              </MenuItem>
            ))}
          </Fragment>
        ))}
      </Menu>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
