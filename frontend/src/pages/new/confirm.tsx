import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { IntentChoice } from "../../components/intent-choice";
import { Card } from "../../components/page";
import { client, ok, type Preview } from "../../lib/api";
import { randomId } from "../../lib/random";
import { configOf, type Draft } from "./draft";
import { WhatHappens } from "./what-happens";

interface Props {
  preview: Preview;
  fileId: string;
  fileName: string;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

const STRICT: Record<string, string[] | undefined> = { empty: [], invalid: ["*"] };
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
      <div className="space-y-2">
        <IntentChoice
          value={draft.intent}
          onChange={(intent) =>
            change({
              intent,
              // A check writes nothing, and so unpublishes nothing.
              ...(intent === "check" && draft.missing === "unpublish" ? { missing: "report" } : {}),
            })
          }
        />
        <More draft={draft} change={change} />
      </div>
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
      <Field
        label="Unreadable values of optional fields"
        hint={
          draft.strict === undefined
            ? "Without a profile, a price that cannot be read makes the row invalid."
            : undefined
        }
      >
        {(ids) => (
          <Select
            {...ids}
            value={draft.strict === undefined ? "" : draft.strict.includes("*") ? "invalid" : "empty"}
            onChange={(event) => change({ strict: STRICT[event.target.value] })}
          >
            <option value="">Profile setting, else left empty</option>
            <option value="empty">Leave every field empty, with a warning</option>
            <option value="invalid">Make the row invalid</option>
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
