import { describe, expect, it } from "vitest";
import { ApiProblem } from "../../../lib/api";
import {
  errorAt,
  isPlaced,
  type Profile,
  removeColumn,
  removeWord,
  setColumn,
  setWord,
  wordsOf,
} from "./draft";

const PROFILE = {
  name: "acme",
  version: 3,
  columns: {
    Preis: { target: "price.amount", currency: "EUR", later: 1 },
    Nr: { target: "identifiers.sku" },
  },
  values: { "availability.quantity": { auslauf: "0", folgt: "" } },
  later: { anything: true },
} as unknown as Profile;

describe("a profile that is edited", () => {
  it("keeps what the form does not know", () => {
    const changed = setColumn(PROFILE, "Preis", { currency: "PLN" });
    expect(changed.columns?.Preis).toEqual({ target: "price.amount", currency: "PLN", later: 1 });
    expect(changed).toMatchObject({ later: { anything: true }, version: 3 });
    expect(Object.keys(removeColumn(changed, "Nr").columns ?? {})).toEqual(["Preis"]);
  });

  it("adds and removes words", () => {
    const more = setWord(PROFILE, { field: "price.unit", word: "kpl.", value: "set" });
    expect(wordsOf(more)).toHaveLength(3);
    const less = removeWord(more, { field: "price.unit", word: "kpl.", value: "set" });
    expect(less.values).toEqual(PROFILE.values);
  });

  it("finds the setting that an error is about", () => {
    const error = new ApiProblem(422, "INVALID_CONFIG", "The profile cannot be used: 'x' is not a currency", {
      place: ["columns", "Preis", "currency"],
    });
    expect(errorAt(error, "columns", "Preis")).toBe("'x' is not a currency");
    expect(errorAt(error, "columns", "Nr")).toBeUndefined();
    expect(errorAt(error, "currency")).toBeUndefined();
    expect(isPlaced(error)).toBe(true);
    expect(isPlaced(new Error("no"))).toBe(false);
  });
});
