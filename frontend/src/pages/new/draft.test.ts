import { describe, expect, it } from "vitest";
import { configOf } from "./draft";

describe("configOf", () => {
  it("says only what was chosen", () => {
    expect(configOf({ mapping: {}, intent: "check", priority: "medium" })).toEqual({});
    expect(
      configOf({
        mapping: { A: null },
        intent: "merge",
        priority: "high",
        encoding: "",
        headerRow: 0,
        name: "x",
      }),
    ).toEqual({ mapping: { A: null }, intent: "merge", headerRow: 0 });
  });
});
