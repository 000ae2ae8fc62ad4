// Edits of many rows: what the API is asked for, and what a clipboard holds.
import { type QueryClient, useQuery } from "@tanstack/react-query";
import { client, type FullJob, ok, type Schemas } from "../../../lib/api";
import type { paths } from "../../../lib/api.gen";
import type { ItemFilter } from "../../../lib/item-pages";
import type { Selection } from "../selection";

type Order = NonNullable<
  paths["/api/jobs/{job_id}/items/fix"]["post"]["requestBody"]
>["content"]["application/json"];
export type RowSelection = NonNullable<Order["select"]>;
export type RowChange = Order["change"];
type Receipt = Schemas["EditReceipt"];
type Preview = Schemas["EditPreview"];

const ENDED = ["DONE", "ERROR", "NOT_FOUND", "SKIPPED"] as const;
/** As many rows as one call may paste. */
export const MOST_PASTED = 2000;

/** The selected rows, or all rows that the filter shows. */
export function rowsToEdit(filter: ItemFilter, selection: Selection | null): RowSelection {
  if (selection && !selection.all && selection.rows.size > 0) return { itemIds: [...selection.rows] };
  const statuses = ENDED.filter((one) => filter.statuses.includes(one));
  return {
    ...(statuses.length > 0 && { statuses }),
    ...(filter.code && { code: filter.code }),
    ...(filter.problem && { problem: filter.problem }),
    ...(filter.q && { q: filter.q }),
  };
}

async function send(jobId: string, select: RowSelection, change: RowChange, dryRun: boolean) {
  return await ok(
    client.POST("/api/jobs/{job_id}/items/fix", {
      params: { path: { job_id: jobId } },
      body: { select, change, dryRun },
    }),
  );
}

export async function previewEdit(jobId: string, select: RowSelection, change: RowChange): Promise<Preview> {
  return (await send(jobId, select, change, true)) as Preview;
}

export async function applyEdit(
  queries: QueryClient,
  job: FullJob,
  select: RowSelection,
  change: RowChange,
): Promise<Receipt> {
  const made = (await send(job.id, select, change, false)) as Receipt;
  return shown(queries, job, made);
}

export async function undoEdit(queries: QueryClient, job: FullJob, editId: string): Promise<Receipt> {
  const made = await ok(
    client.POST("/api/jobs/{job_id}/edits/undo", {
      params: { path: { job_id: job.id } },
      body: { editId },
    }),
  );
  return shown(queries, job, made);
}

function shown(queries: QueryClient, job: FullJob, made: Receipt): Receipt {
  queries.setQueryData(["job", job.id], made.job);
  void queries.invalidateQueries({ queryKey: ["job", job.id, "edits"] });
  void queries.invalidateQueries({ queryKey: ["operations"] });
  return made;
}

export function useEdits(job: FullJob, enabled: boolean) {
  return useQuery({
    queryKey: ["job", job.id, "edits"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/edits", { params: { path: { job_id: job.id } }, signal })),
    enabled,
  });
}

/** The cells of a copied range: tabs between columns, quotes around cells with line breaks. */
export function parseRange(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let place = 0;
  const end = () => {
    row.push(cell);
    cell = "";
  };
  while (place < text.length) {
    const char = text[place];
    if (char === '"' && cell === "") {
      const close = closingQuote(text, place + 1);
      if (close > 0) {
        cell = text.slice(place + 1, close).replaceAll('""', '"');
        place = close + 1;
        continue;
      }
    }
    if (char === "\t") end();
    else if (char === "\n" || char === "\r") {
      if (char === "\r" && text[place + 1] === "\n") place++;
      end();
      rows.push(row);
      row = [];
    } else cell += char;
    place++;
  }
  if (cell !== "" || row.length > 0) {
    end();
    rows.push(row);
  }
  return rows;
}

/** Where a quoted cell ends: a single quote before a tab, a line break or the end; -1: nowhere. */
function closingQuote(text: string, from: number): number {
  for (let place = from; place < text.length; place++) {
    if (text[place] !== '"') continue;
    if (text[place + 1] === '"') {
      place++;
      continue;
    }
    return place + 1 === text.length || "\t\n\r".includes(text[place + 1] ?? "") ? place : -1;
  }
  return -1;
}

/** Pasted cells by row number. One cell fills all given rows; more go to as many rows and columns. */
export function pastedRows(
  range: string[][],
  columns: readonly string[],
  rows: readonly number[],
): { row: number; cells: Record<string, string> }[] {
  const single = range.length === 1 && range[0]?.length === 1 ? range[0] : null;
  const lines = single ? rows.map(() => single) : range;
  return lines.slice(0, rows.length).map((line, place) => ({
    row: rows[place] as number,
    cells: Object.fromEntries(
      line.slice(0, columns.length).map((text, column) => [columns[column] as string, text]),
    ),
  }));
}
