import { expect, test } from "vitest";
import { credentialsOf, lookOf, type Watcher } from "./watchers";

test("empty credentials are left out", () => {
  const form = new FormData();
  form.set("user", "anna");
  form.set("password", "");
  form.set("accessKeyId", "x");
  expect(credentialsOf("sftp", form)).toEqual({ user: "anna" });
  expect(credentialsOf("folder", form)).toEqual({});
});

test("a paused watcher is not shown as failing", () => {
  const error = { code: "X", message: "x" };
  const at = "2026-01-01T00:00:00Z";
  expect(lookOf({ enabled: false, error } as Watcher).word).toBe("Paused");
  expect(lookOf({ enabled: true, error } as Watcher).word).toBe("Fails");
  expect(lookOf({ enabled: true, error: null, scannedAt: at } as Watcher).word).toBe("Works");
  expect(lookOf({ enabled: true, error: null, scannedAt: null } as Watcher).word).toBe("Not scanned");
});
