import { useMutation } from "@tanstack/react-query";
import { Eye } from "lucide-react";
import { Button } from "../../../components/button";
import { ErrorNote } from "../../../components/error-note";
import { Card } from "../../../components/page";
import { Badge } from "../../../components/status";
import { client, ok } from "../../../lib/api";
import { bytes } from "../../../lib/format";
import type { CrawlDraft } from "../../../lib/runs";
import { FieldsTable } from "../../runs/fields-table";

/** What would be extracted from one page, and where each field comes from. */
export function PreviewPanel({ url, draft }: { url: string; draft: CrawlDraft }) {
  const look = useMutation({
    mutationFn: () =>
      ok(
        client.POST("/api/runs/preview", {
          body: { url, kind: draft.kind, robots: draft.robots } as never,
        }),
      ),
  });
  const page = look.data;
  return (
    <section aria-label="Preview" className="min-w-0 space-y-3">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">Preview</h2>
        <Button className="ml-auto" busy={look.isPending} disabled={!url} onClick={() => look.mutate()}>
          {!look.isPending && <Eye aria-hidden />} Look at the page
        </Button>
      </div>
      {look.error && <ErrorNote error={look.error} />}
      {!page && !look.error && (
        <p className="text-sm text-ink-2">
          {url ? (
            <>
              Fetches <span className="break-all">{url}</span> and shows what would be extracted. Nothing is
              stored.
            </>
          ) : (
            "Enter a page on the left to preview what is extracted from it."
          )}
        </p>
      )}
      {page && (
        <>
          <div className="flex flex-wrap items-center gap-2 text-sm text-ink-2">
            <Badge tone={page.kind ? "done" : "skipped"}>
              {page.kind === "job" ? "Job posting" : page.kind === "product" ? "Product" : "Neither"}
            </Badge>
            <span className="min-w-0 break-all">{page.finalUrl}</span>
            <span>{bytes(page.size)}</span>
          </div>
          <FieldsTable fields={page.fields} lineage={page.lineage} />
          <details>
            <summary className="text-sm font-medium text-ink-2">Text of the page</summary>
            <Card className="mt-2 max-h-72 overflow-auto p-3">
              <p className="text-sm break-words">{page.text || "The page has no visible text."}</p>
            </Card>
          </details>
        </>
      )}
    </section>
  );
}
