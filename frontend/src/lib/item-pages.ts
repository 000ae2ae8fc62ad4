// Rows of a job as a grid needs them: any place at once where all rows are shown, page after page where a
// filter leaves some out. Only what is near is kept, and what is shown stays until something newer is there.
import { client, type Item, type ItemStatus, ok } from "./api";

export interface ItemFilter {
  statuses: ItemStatus[];
  code?: string;
  /** The code of a problem in a cell, or `*`. */
  problem?: string;
  q?: string;
}

/** By the values of a column, or by row number from the last to the first. */
export interface ItemSort {
  column: string;
  view: "results" | "input";
  down: boolean;
}

export const ROW_COLUMN = "#row";
export const PAGE = 100;
const MOST_PAGES = 12;

interface Page {
  items: Item[];
}

/** Where a page begins: at a row number, or after the page that had this cursor. */
interface Place {
  row: number;
  cursor: string | null;
}

/** `next` is the cursor of the next page, where pages cannot be asked for by row number. */
export type FetchPage = (
  fromRow: number,
  signal: AbortSignal,
  cursor: string | null,
) => Promise<{ items: Item[]; more: boolean; next?: string | null }>;

export function fetchItems(jobId: string, filter: ItemFilter, sort: ItemSort | null = null): FetchPage {
  return async (fromRow, signal, cursor) => {
    const query: Record<string, unknown> = { pageSize: PAGE };
    if (!sort) query.fromRow = fromRow;
    else if (sort.column === ROW_COLUMN) query.sort = sort.down ? "-row" : "row";
    else Object.assign(query, { sort: sort.down ? "-value" : "value", column: sort.column, view: sort.view });
    if (cursor) query.after = cursor;
    if (filter.statuses.length) query.statuses = filter.statuses;
    if (filter.code) query.code = filter.code;
    if (filter.problem) query.problem = filter.problem;
    if (filter.q) query.q = filter.q;
    const page = await ok(
      client.GET("/api/jobs/{job_id}/items", { params: { path: { job_id: jobId }, query }, signal }),
    );
    return { items: page.items, more: page.next !== null, next: sort ? page.next : null };
  };
}

export class ItemPages {
  /** Where each known page begins. In the dense view, that follows from its number. */
  private starts: Place[] = [{ row: 1, cursor: null }];
  private readonly pages = new Map<number, Page>();
  private readonly asking = new Map<number, AbortController>();
  private readonly listeners = new Set<() => void>();
  private wantedFirst = 0;
  private wantedLast = 0;
  private ended: number | null = null;
  version = 0;
  error: unknown = null;

  constructor(
    private readonly fetchPage: FetchPage,
    /** Every row number is there, so any page can be asked for. */
    private readonly dense: boolean,
  ) {}

  subscribe = (tell: () => void): (() => void) => {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  };

  at(index: number): Item | undefined {
    return this.pages.get(Math.floor(index / PAGE))?.items[index % PAGE];
  }

  /** How many rows a filtered view reaches so far, with room to scroll on while there are more. */
  get reach(): number {
    if (this.ended !== null) return this.ended;
    return this.starts.length * PAGE;
  }

  get isWhole(): boolean {
    return this.ended !== null;
  }

  want(first: number, last: number): void {
    this.wantedFirst = first;
    this.wantedLast = Math.max(first, last - 1);
    this.load(false);
  }

  /** What is in sight is asked for again; it stays in sight meanwhile. */
  refresh(): void {
    if (!this.dense && this.ended !== null) this.ended = null;
    this.load(true);
  }

  close(): void {
    for (const one of this.asking.values()) one.abort();
    this.asking.clear();
  }

  private load(again: boolean): void {
    const from = Math.floor(this.wantedFirst / PAGE);
    const to = Math.floor(this.wantedLast / PAGE);
    for (const [page, asked] of this.asking) {
      if (page < from - 1 || page > to + 1) {
        asked.abort();
        this.asking.delete(page);
      }
    }
    for (let page = from; page <= to; page++) {
      const known = this.pages.get(page);
      const stale = again || !known;
      if (stale && !this.asking.has(page) && this.startOf(page) !== null) void this.ask(page);
    }
  }

  private startOf(page: number): Place | null {
    if (this.dense) return { row: page * PAGE + 1, cursor: null };
    return this.starts[page] ?? null;
  }

  private async ask(page: number): Promise<void> {
    const start = this.startOf(page);
    if (start === null) return;
    const asked = new AbortController();
    this.asking.set(page, asked);
    try {
      const { items, more, next } = await this.fetchPage(start.row, asked.signal, start.cursor);
      this.error = null;
      this.keep(page, items, more, next ?? null);
    } catch (problem) {
      if (asked.signal.aborted) return;
      this.error = problem;
    } finally {
      if (this.asking.get(page) === asked) this.asking.delete(page);
    }
    this.tell();
    // The next page may have become known while its rows are already on the screen.
    if (!this.error) this.load(false);
  }

  private keep(page: number, items: Item[], more: boolean, cursor: string | null): void {
    const last = items.at(-1);
    const next = more && last ? { row: last.rowNo + 1, cursor } : null;
    this.pages.set(page, { items });
    if (!this.dense) {
      if (next !== null) {
        const known = this.starts[page + 1];
        if (known?.row !== next.row || known.cursor !== next.cursor)
          this.starts = [...this.starts.slice(0, page + 1), next];
        this.ended = null;
      } else {
        this.starts = this.starts.slice(0, page + 1);
        this.ended = page * PAGE + items.length;
      }
    }
    this.drop();
  }

  /** Of a long way only the last stretch stays in memory; the places to ask again are numbers. */
  private drop(): void {
    if (this.pages.size <= MOST_PAGES) return;
    const middle = Math.floor(this.wantedFirst / PAGE);
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const page of far.slice(0, this.pages.size - MOST_PAGES)) this.pages.delete(page);
  }

  private tell(): void {
    this.version += 1;
    for (const one of this.listeners) one();
  }
}
