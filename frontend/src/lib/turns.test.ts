import { describe, expect, it } from "vitest";
import { makeTurns } from "./turns";

describe("turns", () => {
  it("lets so many go at once, and the others in their order", () => {
    const takeTurn = makeTurns(2);
    const went: string[] = [];
    const [a, , c] = ["a", "b", "c", "d"].map((name) => takeTurn(() => went.push(name)));
    expect(went).toEqual(["a", "b"]);
    c?.(); // leaves the line before its turn
    a?.();
    a?.(); // twice is the same as once
    expect(went).toEqual(["a", "b", "d"]);
    takeTurn(() => went.push("e"));
    expect(went).toEqual(["a", "b", "d"]);
  });
});
