import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../../components/button";
import { ErrorNote } from "../../../components/error-note";
import { Checkbox, Field, Select } from "../../../components/field";
import { Card } from "../../../components/page";
import { client, ok } from "../../../lib/api";
import { plural } from "../../../lib/format";
import { randomId } from "../../../lib/random";
import { type ImportOptions, importOrder, type Selection } from "../../../lib/shops";

const INTENTS = [
  ["merge", "Create and update products"],
  ["create", "Create new products only"],
  ["update", "Update existing products only"],
  ["replace", "Replace existing products"],
  ["check", "Check only, write nothing"],
] as const;

/** What may be written, and the button that starts it. */
export function ImportCard({ connectionId, selection }: { connectionId: string; selection: Selection }) {
  const navigate = useNavigate();
  const [options, setOptions] = useState<ImportOptions>({ intent: "merge", images: true, missing: "" });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const order = importOrder(connectionId, selection, options);
  // Pressed twice, it is still one job; changed, it is another.
  const asked = JSON.stringify(order);
  const attempt = useMemo(() => `ui-${randomId()}-${asked.length}`, [asked]);
  const change = (part: Partial<ImportOptions>) => setOptions({ ...options, ...part });
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = await ok(
        client.POST("/api/products/import", { headers: { "Idempotency-Key": attempt }, body: order }),
      );
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId } });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const none = !selection.all && selection.ids.length === 0;
  return (
    <Card className="space-y-4 p-4 lg:sticky lg:top-0">
      <h2 className="text-base font-semibold">The import</h2>
      <Field label="What may be written to the catalog">
        {(ids) => (
          <Select
            {...ids}
            value={options.intent}
            onChange={(event) =>
              change({
                intent: event.target.value,
                // A check writes nothing, and so unpublishes nothing.
                ...(event.target.value === "check" && options.missing === "unpublish"
                  ? { missing: "report" }
                  : {}),
              })
            }
          >
            {INTENTS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label="Products that the shop no longer has"
        hint={selection.all ? undefined : "Only known after an import of all products."}
      >
        {(ids) => (
          <Select
            {...ids}
            value={selection.all ? options.missing : ""}
            disabled={!selection.all}
            onChange={(event) => change({ missing: event.target.value })}
          >
            <option value="">Do nothing</option>
            <option value="report">List them in the summary</option>
            <option value="unpublish" disabled={options.intent === "check"}>
              Unpublish them
            </option>
          </Select>
        )}
      </Field>
      <label className="flex items-center gap-2 text-sm">
        <Checkbox checked={options.images} onChange={(event) => change({ images: event.target.checked })} />
        Download pictures and make thumbnails
      </label>
      {error !== null && <ErrorNote error={error} />}
      <Button look="primary" className="w-full" busy={busy} disabled={none} onClick={() => void start()}>
        {!busy && <Play aria-hidden />}{" "}
        {options.intent === "check"
          ? "Check the shop"
          : selection.all
            ? "Import all products"
            : `Import ${plural(selection.ids.length, "product")}`}
      </Button>
      {none ? (
        <p className="text-xs text-ink-3">Choose at least one product.</p>
      ) : (
        options.intent !== "check" && (
          <p className="text-xs text-ink-3">The whole import can be undone later.</p>
        )
      )}
    </Card>
  );
}
