import { describe, expect, it } from "vitest";
import { type Connection, importOrder, productCount } from "./shops";

describe("importOrder", () => {
  const options = { intent: "merge", images: true, missing: "unpublish" };
  it("asks for everything, with what to do about missing products", () => {
    expect(importOrder("c1", { all: true }, options)).toEqual({
      connectionId: "c1",
      all: true,
      config: { intent: "merge", images: true, missing: "unpublish" },
    });
  });
  it("asks for chosen products, which say nothing about missing ones", () => {
    expect(importOrder("c1", { all: false, ids: ["7", "8"] }, options)).toEqual({
      connectionId: "c1",
      productIds: ["7", "8"],
      config: { intent: "merge", images: true },
    });
  });
});

describe("productCount", () => {
  it("is null where the shop does not tell", () => {
    expect(productCount({ details: {} } as Connection)).toBeNull();
    expect(productCount({ details: { products: 12 } } as unknown as Connection)).toBe(12);
  });
});
