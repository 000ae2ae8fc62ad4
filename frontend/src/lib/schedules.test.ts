import { expect, test } from "vitest";
import { aboutAction, timeZones } from "./schedules";

test("an action is described in a few words", () => {
  expect(aboutAction({ kind: "file", url: "https://a.example/p.csv" })).toBe("a.example/p.csv");
  expect(aboutAction({ kind: "research", query: "M8" })).toBe("M8");
  expect(aboutAction({ kind: "crawl", companies: [{ company: "a" }, { company: "b" }] })).toBe("a, b");
  expect(aboutAction({ kind: "export", to: { url: "https://x.example/in?token=1" } })).toBe(
    "products as CSV to x.example",
  );
  expect(aboutAction({ kind: "scan" })).toBe("");
});

test("time zones contain UTC once", () => {
  expect(timeZones().filter((one) => one === "UTC")).toEqual(["UTC"]);
});
