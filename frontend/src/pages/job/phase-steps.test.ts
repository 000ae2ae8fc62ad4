import { expect, test } from "vitest";
import { phaseSteps } from "./phase-steps";

const phases = [
  { phase: "fetching", open: 0 },
  { phase: "mapping", open: 3 },
  { phase: "creating", open: 1 },
];

test("phases before the current one are over", () => {
  const steps = phaseSteps("mapping", phases, true);
  expect(steps.map((one) => [one.phase, one.done, one.now])).toEqual([
    ["fetching", true, false],
    ["mapping", false, true],
    ["creating", false, false],
    ["finalising", false, false],
  ]);
});

test("all are over in the end, and none runs before the start", () => {
  expect(phaseSteps("done", phases, false).every((one) => one.done && !one.now)).toBe(true);
  expect(phaseSteps("queued", phases, true).some((one) => one.done || one.now)).toBe(false);
  expect(phaseSteps(null, null, true)).toEqual([]);
});
