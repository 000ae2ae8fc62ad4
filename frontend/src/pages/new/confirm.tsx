import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { Card } from "../../components/page";
import { client, ok, type Preview } from "../../lib/api";
import { cn } from "../../lib/cn";
import { randomId } from "../../lib/random";
import { configOf, type Draft, type Intent } from "./draft";
import { WhatHappens } from "./what-happens";

interface Props {
  preview: Preview;
  fileId: string;
  fileName: string;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

const INTENTS: [Intent, string, string][] = [
  ["check", "Check only", "Nothing is written. You can review and export the cleaned rows."],
  [
    "create",
    "Create new products",
    "Adds products that are not in the catalog. Existing products are not changed.",
  ],
  [
    "update",
    "Update existing products",
    "Changes the mapped fields of existing products. Empty cells change nothing.",
  ],
  ["merge", "Create and update", "Adds new products and updates existing ones."],
  [
    "replace",
    "Replace existing products",
    "Existing products become exactly what the file contains; empty cells clear fields.",
  ],
  ["ignoreExisting", "Create, ignore existing", "Adds new products; rows of existing products are skipped."],
];

export function ConfirmStep({ preview, fileId, fileName, draft, change }: Props) {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  // Pressed twice, or sent again after a cut connection, it is still one job; changed, it is another.
  const asked = JSON.stringify(draft);
  const attempt = useMemo(() => `ui-${randomId()}-${asked.length}`, [asked]);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = await ok(
        client.POST("/api/jobs", {
          headers: { "Idempotency-Key": attempt },
          body: {
            fileId,
            config: configOf(draft),
            priority: draft.priority,
            name: draft.name || fileName,
          } as never,
        }),
      );
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId } });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <div className="grid gap-4 lg:grid-cols-[2fr_1fr]">
      <fieldset className="space-y-2">
        <legend className="mb-2 text-base font-semibold">What may be written to the catalog?</legend>
        {INTENTS.map(([value, label, told]) => (
          <label
            key={value}
            className={cn(
              "flex cursor-pointer items-start gap-3 rounded-md border bg-surface px-4 py-2.5 hover:border-line-strong",
              draft.intent === value && "border-accent bg-accent-soft hover:border-accent",
            )}
          >
            <input
              type="radio"
              name="intent"
              value={value}
              checked={draft.intent === value}
              onChange={() =>
                change({
                  intent: value,
                  // A check writes nothing, and so unpublishes nothing.
                  ...(value === "check" && draft.missing === "unpublish" ? { missing: "report" } : {}),
                })
              }
              className="mt-1 accent-(--accent)"
            />
            <span>
              <span className="block text-sm font-medium">{label}</span>
              <span className="block text-sm text-ink-2">{told}</span>
            </span>
          </label>
        ))}
        <More draft={draft} change={change} />
      </fieldset>
      <Card className="h-fit space-y-4 p-4">
        <h2 className="text-base font-semibold">The job</h2>
        <Field label="Name">
          {(ids) => (
            <Input
              {...ids}
              maxLength={200}
              defaultValue={draft.name ?? fileName}
              onBlur={(event) => change({ name: event.target.value.trim() })}
            />
          )}
        </Field>
        <Field label="Priority" hint="Relative to your organisation's other jobs.">
          {(ids) => (
            <Select
              {...ids}
              value={draft.priority}
              onChange={(event) => change({ priority: event.target.value as Draft["priority"] })}
            >
              <option value="high">High</option>
              <option value="medium">Medium</option>
              <option value="low">Low</option>
            </Select>
          )}
        </Field>
        <WhatHappens preview={preview} draft={draft} />
        {error !== null && <ErrorNote error={error} />}
        <Button look="primary" className="w-full" busy={busy} onClick={start}>
          {!busy && <Play aria-hidden />} {draft.intent === "check" ? "Check the file" : "Start the import"}
        </Button>
        {draft.intent !== "check" && (
          <p className="text-xs text-ink-3">The whole import can be undone later.</p>
        )}
      </Card>
    </div>
  );
}

function More({ draft, change }: Pick<Props, "draft" | "change">) {
  return (
    <div className="grid gap-4 pt-2 sm:grid-cols-2">
      <Field label="Hold back prices that change" hint="Also by a factor near 10, 100 or 1000.">
        {(ids) => (
          <Select
            {...ids}
            value={draft.priceGuard ?? ""}
            onChange={(event) =>
              change({ priceGuard: event.target.value === "" ? undefined : Number(event.target.value) })
            }
          >
            <option value="">Profile setting, else by more than 50 %</option>
            <option value="10">by more than 10 %</option>
            <option value="20">by more than 20 %</option>
            <option value="100">by more than 100 %</option>
            <option value="0">never: write all prices</option>
          </Select>
        )}
      </Field>
      <Field label="Unreadable values of optional fields">
        {(ids) => (
          <Select
            {...ids}
            value={draft.strict === undefined ? "" : "empty"}
            onChange={(event) => change({ strict: event.target.value === "" ? undefined : [] })}
          >
            <option value="">Profile setting, else the row is invalid</option>
            <option value="empty">Leave the field empty, with a warning</option>
          </Select>
        )}
      </Field>
      <Field label="Rows for the same product">
        {(ids) => (
          <Select
            {...ids}
            value={draft.winner ?? "first"}
            onChange={(event) =>
              change({
                winner: event.target.value === "first" ? undefined : (event.target.value as Draft["winner"]),
              })
            }
          >
            <option value="first">Keep the first</option>
            <option value="last">Keep the last</option>
            <option value="most_complete">Keep the most complete</option>
          </Select>
        )}
      </Field>
      <Field label="Products of this supplier missing from the file">
        {(ids) => (
          <Select
            {...ids}
            value={draft.missing ?? ""}
            onChange={(event) => change({ missing: (event.target.value || undefined) as Draft["missing"] })}
          >
            <option value="">Do nothing</option>
            <option value="report">List them in the summary</option>
            <option value="unpublish" disabled={draft.intent === "check"}>
              Unpublish them
            </option>
          </Select>
        )}
      </Field>
    </div>
  );
}
