import { expect, test } from "vitest";
import { cronOf, howOften } from "./how-often";

test("usual expressions are choices, and back", () => {
  const usual = [
    "0 6 * * *",
    "30 17 * * MON-FRI",
    "0 5 * * SUN",
    "15 0 28 * *",
    "0 5 L * *",
    "0 * * * *",
    "*/15 * * * *",
  ];
  for (const cron of usual) expect(cronOf(howOften(cron))).toBe(cron);
  expect(howOften("30 17 * * MON-FRI")).toMatchObject({ often: "workday", time: "17:30" });
  expect(howOften("0 5 L * *")).toMatchObject({ often: "month", day: "L" });
});

test("others are written by hand", () => {
  for (const cron of ["61 6 * * *", "0 6 31 * *", "0 6 * * FRI#2", "@daily", "0 6,18 * * *", ""])
    expect(cronOf(howOften(cron))).toBeNull();
});
