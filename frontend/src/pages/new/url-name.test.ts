import { expect, test } from "vitest";
import { nameOf } from "./url-name";

test("a fetched file has the name its address ends in", () => {
  expect(nameOf("https://a.example/lists/Preise%202026.csv?token=secret#x")).toBe("Preise 2026.csv");
  expect(nameOf("https://a.example/")).toBe("a.example");
  expect(nameOf("https://a.example/%zz")).toBe("file");
  expect(nameOf("nonsense")).toBe("file");
});
