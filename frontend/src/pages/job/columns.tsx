import { Link2, TriangleAlert } from "lucide-react";
import type { GridColumn } from "../../components/grid";
import { ItemPill } from "../../components/status";
import { Time } from "../../components/time";
import type { FullJob, Item } from "../../lib/api";
import { cellText, count } from "../../lib/format";
import { label } from "../../lib/labels";

export type View = "results" | "input";

export interface Trouble {
  code: string;
  message: string;
  column?: string;
  value?: string;
  severity?: string;
  target?: string;
}

/** All that is wrong with a row: its error, then what was noticed on the way. */
export function troubles(item: Item): Trouble[] {
  const error = item.error as (Trouble & { problems?: Trouble[] }) | null;
  const noticed = ((item.normalized?.problems as Trouble[] | undefined) ?? []).filter(
    (one) => !error || one.code !== error.code || one.column !== error.column,
  );
  return error ? [error, ...noticed] : noticed;
}

const WIDE = /title|name|description|bezeichnung|beschreibung|url|image|bild|category|kategorie|message/i;
const NUMBERS =
  /^(price|maxAmount|perUnit|quantity|leadTimeDays|minOrder|length|width|height|depth|diameter|weight|packCount|packSize|packTotal|row)$/;

export function defaultWidth(id: string): number {
  if (WIDE.test(id)) return 240;
  if (/gtin|ean/i.test(id)) return 144;
  return Math.max(104, Math.min(180, 40 + 8 * id.length));
}

/** The column with the article numbers, which stays in sight. */
export function skuColumn(job: FullJob, view: View): string | null {
  if (view === "results") return "sku";
  const mapping = (job.mapping ?? []) as { column: string; target?: string | null }[];
  return mapping.find((one) => one.target === "identifiers.sku")?.column ?? null;
}

/** Columns of the grid: the row itself, then the results or the supplier's own cells. */
export function itemColumns(
  job: FullJob,
  view: View,
  sample: readonly Item[],
  number: GridColumn<Item>,
  extra: GridColumn<Item>[],
  widths: Record<string, number>,
  canEdit: boolean,
): GridColumn<Item>[] {
  const status: GridColumn<Item> = {
    id: "#status",
    title: "Status",
    width: widths["#status"] ?? 148,
    render: (item) => <ItemPill status={item.status} shown={item.shown} />,
  };
  const why: GridColumn<Item> = {
    id: "#why",
    title: "Problems",
    width: widths["#why"] ?? 220,
    render: (item) => <Why item={item} />,
  };
  const names =
    view === "results"
      ? (job.columns ?? namesOf(sample, (item) => item.result))
      : (job.header ?? namesOf(sample, (item) => item.input));
  const cells = names.map((name): GridColumn<Item> => {
    const value = (item: Item) =>
      view === "results" ? item.result?.[name] : (item.input as Record<string, unknown> | null)?.[name];
    return {
      id: name,
      title: view === "results" ? label(name) : name,
      width: widths[name] ?? defaultWidth(name),
      align: view === "results" && NUMBERS.test(name) ? "right" : undefined,
      render: (item) =>
        name === "match" && item.result?.links ? (
          <Linked text={cellText(value(item))} links={Number(item.result.links)} />
        ) : (
          cellText(value(item))
        ),
      className: (item) => {
        const bad = view === "input" && troubles(item).find((one) => one.column === name);
        if (!bad) return undefined;
        return bad.severity === "warning" ? "bg-not-found-bg text-not-found" : "bg-error-bg text-error";
      },
      editable:
        canEdit && view === "input"
          ? (item) =>
              item.status === "PENDING" || item.status === "PROCESSING" ? null : cellText(value(item))
          : undefined,
    };
  });
  const updated: GridColumn<Item> = {
    id: "#updated",
    title: "Updated",
    width: widths["#updated"] ?? 112,
    render: (item) => <Time at={item.updatedAt} className="text-ink-2" />,
  };
  const attempts: GridColumn<Item> = {
    id: "#attempts",
    title: "Tries",
    width: widths["#attempts"] ?? 56,
    align: "right",
    render: (item) => <span className="text-ink-2">{count(item.attempts)}</span>,
  };
  const line: GridColumn<Item> = {
    id: "#line",
    title: "Line",
    width: widths["#line"] ?? 64,
    align: "right",
    render: (item) => <span className="text-ink-2">{item.line === null ? "" : count(item.line)}</span>,
  };
  const sku = skuColumn(job, view);
  const first = cells.filter((one) => one.id === sku).map((one) => ({ ...one, frozen: true }));
  const others = cells.filter((one) => one.id !== sku);
  const placed = job.lines.length > 0 ? [line] : [];
  return [number, ...first, ...extra, ...placed, status, why, ...others, attempts, updated];
}

/** How a row compares with the catalog, and that other sources may have its product. */
function Linked({ text, links }: { text: string; links: number }) {
  const told = `${links === 1 ? "1 product" : `${links} products`} of other sources may be the same`;
  return (
    <span title={told}>
      {text} <Link2 className="inline size-3 align-[-1px] text-ink-2" aria-label={told} />
    </span>
  );
}

function namesOf(sample: readonly Item[], of: (item: Item) => unknown): string[] {
  const names = new Set<string>();
  for (const item of sample)
    for (const name of Object.keys((of(item) as object | null) ?? {})) names.add(name);
  return [...names];
}

function Why({ item }: { item: Item }) {
  const list = troubles(item);
  const first = list[0];
  if (!first) return null;
  const warns = !item.error || item.status === "SKIPPED";
  return (
    <span
      className={warns ? "text-ink-2" : "text-error"}
      title={list.map((one) => `${one.column ? `${one.column}: ` : ""}${one.message}`).join("\n")}
    >
      <TriangleAlert className="mr-1 inline size-3 align-[-1px]" aria-hidden />
      {first.column && <span className="font-medium">{first.column}: </span>}
      {first.message}
      {list.length > 1 && ` (+${list.length - 1})`}
    </span>
  );
}
