import { Info } from "lucide-react";
import { Field, Input, Select } from "../../components/field";
import { Card } from "../../components/page";
import type { Preview } from "../../lib/api";
import { cellText, count, plural } from "../../lib/format";
import type { Draft } from "./draft";

interface Detected {
  format?: string;
  container?: string | null;
  encoding?: string | null;
  delimiter?: string | null;
  sheet?: string | null;
  sheets?: (string | { name: string; rows?: number })[];
  header_rows?: number[];
  preamble?: unknown[];
  footer?: unknown[];
  ambiguities?: unknown[];
  problems?: { code?: string; message?: string; line?: number }[];
  confidence?: number;
}

interface Props {
  preview: Preview | undefined;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  busy: boolean;
}

const ENCODINGS = [
  ["utf-8", "UTF-8"],
  ["cp1252", "Western (Windows-1252)"],
  ["cp1250", "Central European (Windows-1250)"],
  ["cp1251", "Cyrillic (Windows-1251)"],
  ["cp1253", "Greek (Windows-1253)"],
  ["cp1254", "Turkish (Windows-1254)"],
  ["cp1257", "Baltic (Windows-1257)"],
  ["iso8859-2", "ISO 8859-2"],
  ["iso8859-15", "ISO 8859-15"],
  ["utf-16", "UTF-16"],
  ["mac_roman", "Mac Roman"],
  ["cp850", "DOS (850)"],
  ["koi8-r", "KOI8-R"],
  ["shift_jis", "Shift-JIS"],
  ["gb18030", "GB 18030"],
  ["big5", "Big5"],
] as const;
const DELIMITERS = [
  [";", "Semicolon ;"],
  [",", "Comma ,"],
  ["\t", "Tab"],
  ["|", "Bar |"],
] as const;

/** What was found out about the file, and how to overrule it. */
export function Reading({ preview, draft, change, busy }: Props) {
  const found = (preview?.reading ?? {}) as Detected;
  const isText = preview ? found.format === "csv" || !!found.delimiter : true;
  const sheets = (found.sheets ?? []).map((sheet) => (typeof sheet === "string" ? sheet : sheet.name));
  const header = found.header_rows?.at(-1) ?? (found.header_rows ? 0 : undefined);
  return (
    <div className="space-y-4">
      {preview && (
        <p className="text-sm" aria-live="polite">
          Read as <strong>{found.format?.toUpperCase()}</strong>
          {found.container && ` in ${found.container}`}:{" "}
          <strong>{plural(preview.header.length, "column")}</strong>,{" "}
          {preview.rowsEstimated > preview.rowsSampled ? "about " : ""}
          <strong>{plural(preview.rowsEstimated, "row")}</strong>
          {found.preamble?.length
            ? `, ${plural(found.preamble.length, "line")} above the table left out`
            : ""}
          {found.footer?.length ? `, ${plural(found.footer.length, "line")} below it left out` : ""}.
        </p>
      )}
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2 lg:grid-cols-4" aria-busy={busy}>
        {sheets.length > 1 && (
          <Field label="Sheet" hint="The sheet with the most data was chosen.">
            {(ids) => (
              <Select
                {...ids}
                value={draft.sheet ?? found.sheet ?? ""}
                onChange={(event) => change({ sheet: event.target.value, headerRow: undefined, mapping: {} })}
              >
                {sheets.map((sheet) => (
                  <option key={sheet}>{sheet}</option>
                ))}
              </Select>
            )}
          </Field>
        )}
        <Field label="Header row" hint="Line number in the file; 0 means no header.">
          {(ids) => (
            <Input
              {...ids}
              type="number"
              min={0}
              max={1000}
              value={draft.headerRow ?? header ?? ""}
              onChange={(event) =>
                change({
                  headerRow: event.target.value === "" ? undefined : Number(event.target.value),
                  mapping: {},
                })
              }
            />
          )}
        </Field>
        {isText && (
          <>
            <Field label="Encoding" hint={draft.encoding ? "Chosen by you." : "Detected from the content."}>
              {(ids) => (
                <Select
                  {...ids}
                  value={draft.encoding ?? ""}
                  onChange={(event) => change({ encoding: event.target.value || undefined })}
                >
                  <option value="">As found{found.encoding ? ` (${found.encoding})` : ""}</option>
                  {ENCODINGS.map(([value, label]) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            <Field label="Delimiter" hint={draft.delimiter ? "Chosen by you." : "Detected from the rows."}>
              {(ids) => (
                <Select
                  {...ids}
                  value={draft.delimiter ?? ""}
                  onChange={(event) => change({ delimiter: event.target.value || undefined, mapping: {} })}
                >
                  <option value="">
                    As found{found.delimiter ? ` (${shownDelimiter(found.delimiter)})` : ""}
                  </option>
                  {DELIMITERS.map(([value, label]) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          </>
        )}
      </div>
      {[...(found.ambiguities ?? []), ...(found.problems ?? [])].slice(0, 6).map((one, place) => (
        <p key={place} className="flex gap-2 text-sm text-ink-2">
          <Info className="mt-0.5 size-4 shrink-0 text-ink-3" aria-hidden />{" "}
          <span className="inline-block first-letter:uppercase">{noted(one)}</span>
        </p>
      ))}
      {preview && <Sample preview={preview} />}
    </div>
  );
}

function Sample({ preview }: { preview: Preview }) {
  return (
    <Card className="overflow-hidden">
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="First rows as read">
        <table className="w-full text-left text-sm">
          <thead>
            <tr className="h-8 border-b bg-sunken text-xs text-ink-2">
              <th className="px-3 text-right font-medium">{preview.rows[0]?.line ? "Line" : "Row"}</th>
              {preview.header.map((name, place) => (
                <th key={place} className="px-3 font-medium whitespace-nowrap">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y">
            {preview.rows.slice(0, 8).map((row) => (
              <tr key={row.rowNo} className="h-8">
                <td className="px-3 text-right font-mono text-xs text-ink-3">
                  {count(row.line ?? row.rowNo)}
                </td>
                {preview.header.map((_, place) => (
                  <td key={place} className="max-w-60 truncate px-3" title={row.cells[place]}>
                    {row.cells[place]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function shownDelimiter(text: string): string {
  return text === "\t" ? "tab" : text;
}

function noted(one: unknown): string {
  if (typeof one === "string") return one;
  const told = one as { message?: string; line?: number };
  // Most say themselves in which line they are.
  if (told.message)
    return told.line && !told.message.startsWith("Line ")
      ? `Line ${told.line}: ${told.message}`
      : told.message;
  return cellText(one);
}
