import { describe, expect, it } from "vitest";
import { earlierSource, proposeSource } from "./source-name";

describe("proposeSource", () => {
  it("is the same for the next file of a supplier", () => {
    expect(proposeSource("Acme-Preisliste_2026-11.csv")).toBe("acme-preisliste");
    expect(proposeSource("Acme-Preisliste_2026-12 (2).csv.gz")).toBe("acme-preisliste");
    expect(proposeSource("Müller GmbH v3 final.xlsx")).toBe("müller-gmbh");
  });
  it("proposes nothing where the name says nothing", () => {
    expect(proposeSource("2026-11-15.csv")).toBe("");
    expect(proposeSource("export.csv")).toBe("");
  });
});

describe("earlierSource", () => {
  const row = (sources: string[], match = "new") => ({ match, sources });
  it("is the one whose products have the same ids", () => {
    expect(earlierSource([row(["acme"]), row(["acme", "shop:acme.example"]), row([])])).toEqual({
      source: "acme",
      rows: 2,
    });
  });
  it("is none where the chosen source has products of the file", () => {
    expect(earlierSource([row(["acme"]), row(["acme"]), row([], "changed")])).toBeNull();
  });
  it("is none where no row is alike, or rows of several sources are", () => {
    expect(earlierSource([row([])])).toBeNull();
    expect(earlierSource([row(["acme"]), row(["zeta"])])).toBeNull();
  });
  it("is none of a shop's, whose products the shop sends itself", () => {
    expect(earlierSource([row(["shopify:acme.example"])])).toBeNull();
  });
});
