import { describe, expect, it } from "vitest";
import { proposeSource } from "./source-name";

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
