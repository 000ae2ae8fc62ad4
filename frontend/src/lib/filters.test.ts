import { describe, expect, it } from "vitest";
import { chosenText, cycle, parseChosen, wanted } from "./filters";

const known = ["queued", "running", "done"] as const;

describe("filters in the URL", () => {
  it("takes, leaves out, and forgets", () => {
    const none = parseChosen(undefined, known);
    const only = cycle(none, "done");
    const not = cycle(only, "done");
    expect(chosenText(only)).toBe("done");
    expect(chosenText(not)).toBe("!done");
    expect(chosenText(cycle(not, "done"))).toBeUndefined();
    expect(wanted(none, known)).toEqual([]);
    expect(wanted(not, known)).toEqual(["queued", "running"]);
  });

  it("drops words it does not know", () => {
    expect(parseChosen("done,odd,!running", known)).toEqual({ only: ["done"], not: ["running"] });
  });
});
