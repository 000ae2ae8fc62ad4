import { expect, test } from "vitest";
import { agentName } from "./agents";

test("browsers are named as people name them", () => {
  expect(agentName("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36")).toBe(
    "Chrome on Linux",
  );
  expect(
    agentName("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0"),
  ).toBe("Edge on Windows");
  expect(agentName("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19 Safari/604.1")).toBe(
    "Safari on iOS",
  );
  expect(agentName("curl/8.14.1")).toBe("curl");
  expect(agentName("")).toBe("Unknown");
});
