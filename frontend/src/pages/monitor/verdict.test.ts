import { expect, test } from "vitest";
import { verdict } from "./verdict";

const queue = {
  level: "healthy" as const,
  depth: 3,
  waiting: 1,
  active: 2,
  delayed: 0,
  oldestWaitingMs: 900,
  workers: 2,
  slots: 10,
  since: null,
  deadLetters: 0,
};
const lastHour = {
  done: 10,
  failed: 0,
  rows: 100,
  successRate: 1,
  durationMs: { p50: 1, p95: 2, p99: 3 },
  capped: false,
  minutes: [],
};

test("all is well only if nothing is wrong", () => {
  expect(verdict({ queue, lastHour })).toEqual({ well: true, says: ["All is well: 2 workers on 3 jobs."] });
});

test("everything that is wrong is said", () => {
  const { well, says } = verdict({
    queue: { ...queue, workers: 0, level: "critical", depth: 6000 },
    lastHour: { ...lastHour, failed: 5, successRate: 0.5 },
  });
  expect(well).toBe(false);
  expect(says).toEqual([
    "No worker is running: 6,000 jobs stand still.",
    "The queue is critical: 6,000 jobs.",
    "5 jobs failed in the last hour.",
  ]);
});
