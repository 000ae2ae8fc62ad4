import { describe, expect, it, vi } from "vitest";
import type { Item } from "./api";
import { ItemPages, PAGE } from "./item-pages";

const item = (rowNo: number) => ({ rowNo }) as Item;
const settle = () => new Promise((resolve) => setTimeout(resolve, 0));

describe("ItemPages", () => {
  it("asks for the page in sight and for nothing before it", async () => {
    const fetchPage = vi.fn(async (from: number) => ({
      items: Array.from({ length: PAGE }, (_, n) => item(from + n)),
      more: true,
    }));
    const pages = new ItemPages(fetchPage, true);
    pages.want(765_400, 765_430);
    await settle();
    expect(fetchPage.mock.calls.map(([from]) => from)).toEqual([765_401]);
    expect(pages.at(765_431)?.rowNo).toBe(765_432);
    expect(pages.at(0)).toBeUndefined();
  });

  it("walks a filtered view page after page, and keeps only what is near", async () => {
    // Every tenth row matches.
    const fetchPage = vi.fn(async (from: number) => {
      const first = Math.ceil(from / 10) * 10;
      const items = Array.from({ length: PAGE }, (_, n) => item(first + 10 * n)).filter(
        (one) => one.rowNo <= 30_000,
      );
      return { items, more: (items.at(-1)?.rowNo ?? 30_000) < 30_000 };
    });
    const pages = new ItemPages(fetchPage, false);
    for (let row = 0; row < 3000; row += 50) {
      pages.want(row, row + 40);
      await settle();
    }
    expect(pages.isWhole).toBe(true);
    expect(pages.reach).toBe(3000);
    expect(pages.at(2999)?.rowNo).toBe(30_000);
    expect(pages.at(0)).toBeUndefined();
    pages.want(0, 40);
    await settle();
    expect(pages.at(0)?.rowNo).toBe(10);
  });

  it("keeps what is shown while it is asked for again", async () => {
    let answer: (page: { items: Item[]; more: boolean }) => void = () => undefined;
    let first = true;
    const pages = new ItemPages(() => {
      if (first) {
        first = false;
        return Promise.resolve({ items: [item(1)], more: false });
      }
      return new Promise((resolve) => {
        answer = resolve;
      });
    }, true);
    pages.want(0, 10);
    await settle();
    pages.refresh();
    expect(pages.at(0)?.rowNo).toBe(1);
    answer({ items: [item(7)], more: false });
    await settle();
    expect(pages.at(0)?.rowNo).toBe(7);
  });
});
