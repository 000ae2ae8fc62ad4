import { expect, test } from "vitest";
import { rateText } from "./rate";

test("rates read as people say them", () => {
  expect(rateText({ perSecond: 2, burst: 40 })).toBe("2 calls a second, 40 at once");
  expect(rateText({ perSecond: 1.6667, burst: 20 })).toBe("100 calls a minute, 20 at once");
  expect(rateText({ perSecond: 1, burst: 10 })).toBe("60 calls a minute, 10 at once");
});
