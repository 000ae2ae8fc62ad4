import { describe, expect, it } from "vitest";
import type { Item } from "./api";
import { candidatesOf, isEnrichment, lookupOrder, proposalOf, sizeOf, variantLabel } from "./lookup";

const stored = { id: "f1", file: { name: "box.jpg", size: 10 } };
const sent = { id: null, file: { name: "shelf.jpg", size: 5 } };

describe("lookups", () => {
  it("names the stored files and the first one's name", () => {
    const order = lookupOrder([stored, sent], { name: " ", accept: "0.9", sources: true });
    expect(order).toEqual({
      pipeline: "lookup",
      fileIds: ["f1"],
      name: "box.jpg",
      config: { accept: 0.9 },
    });
    expect(sizeOf([stored, sent])).toBe(15);
  });
  it("asks no source if none is wanted", () => {
    expect(lookupOrder([stored], { name: "x", accept: "0.8", sources: false }).config.sources).toEqual([]);
  });
  it("reads what a row knows", () => {
    const item = { normalized: { candidates: [{ key: "a" }], proposal: [{ field: "images" }] } };
    expect(candidatesOf(item as unknown as Item)).toHaveLength(1);
    expect(proposalOf(item as unknown as Item)[0]?.field).toBe("images");
    expect(candidatesOf({ normalized: null } as Item)).toEqual([]);
    expect(variantLabel("mpnBrand")).toBe("Part number and brand");
    expect(isEnrichment({ pipeline: "lookup", config: { enrich: {} } })).toBe(true);
  });
});
