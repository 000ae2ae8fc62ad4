// Watched places: what pages ask for, and the names of things.
import { queryOptions } from "@tanstack/react-query";
import { CircleCheck, CircleDashed, CirclePause, CircleX, type LucideIcon } from "lucide-react";
import { client, ok, type Schemas } from "./api";
import type { Tone } from "./states";

export type Watcher = Schemas["WatcherShape"];
export type WatchedFile = Schemas["WatchedFileShape"];
export type WatcherKind = Watcher["kind"];

/** All of the org; there are at most a few hundred. */
export const watchersQuery = queryOptions({
  queryKey: ["watchers", "list"],
  queryFn: async ({ signal }) => {
    const found: Watcher[] = [];
    for (let after = ""; ; ) {
      const page = await ok(
        client.GET("/api/watchers", { params: { query: { after, pageSize: 200 } }, signal }),
      );
      found.push(...page.items);
      if (!page.next) return found;
      after = page.next;
    }
  },
  refetchInterval: 10_000,
});

export const KINDS: Record<WatcherKind, { title: string; example: string; fields: CredentialField[] }> = {
  folder: { title: "Folder of the server", example: "/data/incoming", fields: [] },
  s3: {
    title: "S3 bucket",
    example: "s3://bucket/prefix?region=eu-central-1",
    fields: [
      { name: "accessKeyId", label: "Access key id" },
      { name: "secretAccessKey", label: "Secret access key", secret: true },
    ],
  },
  sftp: {
    title: "SFTP server",
    example: "sftp://files.example.com/incoming",
    fields: [
      { name: "user", label: "User" },
      { name: "password", label: "Password", secret: true, optional: true },
      { name: "privateKey", label: "Private key", long: true, optional: true },
    ],
  },
  ftp: {
    title: "FTP server",
    example: "ftps://files.example.com/incoming",
    fields: [
      { name: "user", label: "User" },
      { name: "password", label: "Password", secret: true },
    ],
  },
  imap: {
    title: "Mailbox",
    example: "imaps://mail.example.com/INBOX",
    fields: [
      { name: "user", label: "User" },
      { name: "password", label: "Password", secret: true },
    ],
  },
};

export interface CredentialField {
  name: string;
  label: string;
  secret?: boolean;
  optional?: boolean;
  long?: boolean;
}

/** Kinds that can be chosen. */
export const CHOICES: WatcherKind[] = ["folder", "s3", "sftp", "ftp", "imap"];

export const THEN: Record<Watcher["then"], string> = {
  keep: "Keep them",
  move: "Move them to done/",
  rename: "Rename them to NAME.taken",
  delete: "Delete them",
};

export function lookOf(watcher: Watcher): { tone: Tone; word: string; icon: LucideIcon } {
  if (!watcher.enabled) return { tone: "skipped", word: "Paused", icon: CirclePause };
  if (watcher.error) return { tone: "error", word: "Fails", icon: CircleX };
  if (watcher.scannedAt) return { tone: "done", word: "Works", icon: CircleCheck };
  return { tone: "pending", word: "Not scanned", icon: CircleDashed };
}

export const FILE_TONES: Record<WatchedFile["state"], { tone: Tone; word: string }> = {
  seen: { tone: "pending", word: "Waiting" },
  taking: { tone: "processing", word: "Reading" },
  submitted: { tone: "done", word: "Submitted" },
  failed: { tone: "error", word: "Failed" },
};

/** Credentials of a form; empty fields are left out. */
export function credentialsOf(kind: WatcherKind, form: FormData): Record<string, string> {
  return Object.fromEntries(
    KINDS[kind].fields
      .map((field): [string, string] => [field.name, String(form.get(field.name) ?? "")])
      .filter(([, value]) => value !== ""),
  );
}
