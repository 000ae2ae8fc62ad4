import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../../components/button";
import { Choice } from "../../../components/choice";
import { ErrorNote } from "../../../components/error-note";
import { Checkbox, Field, Input, Select, Textarea } from "../../../components/field";
import { Card, Page } from "../../../components/page";
import { client, ok } from "../../../lib/api";
import { randomId } from "../../../lib/random";
import { type CrawlDraft, firstPage, NEW_CRAWL, type PageSource, runOrder } from "../../../lib/runs";
import { SourceChoice } from "../source-choice";
import { PreviewPanel } from "./preview-panel";

/** Name a company and its pages, look at one of them, and start the run. */
export function CrawlSteps() {
  const [draft, setDraft] = useState<CrawlDraft>(NEW_CRAWL);
  const change = (part: Partial<CrawlDraft>) => setDraft({ ...draft, ...part });
  const url = firstPage(draft);
  return (
    <Page title="New job" lead="Pages of a company become products and job postings.">
      <SourceChoice value="crawl" />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-2">
        <div className="min-w-0 space-y-4">
          <PagesCard draft={draft} change={change} />
          <OptionsCard draft={draft} change={change} />
          <Start draft={draft} />
        </div>
        {/* Another page begins with nothing shown. */}
        <PreviewPanel key={url} url={url} draft={draft} />
      </div>
    </Page>
  );
}

interface Props {
  draft: CrawlDraft;
  change: (part: Partial<CrawlDraft>) => void;
}

function PagesCard({ draft, change }: Props) {
  return (
    <Card className="space-y-4 p-4">
      <h2 className="text-base font-semibold">The pages</h2>
      <Field label="Company" hint="Pages of one company are requested one after the other.">
        {(ids) => (
          <Input
            {...ids}
            value={draft.company}
            maxLength={100}
            onChange={(event) => change({ company: event.target.value })}
          />
        )}
      </Field>
      <Choice
        label="Where the pages are"
        value={draft.source}
        onChange={(source: PageSource) => change({ source })}
        options={[
          { value: "urls", label: "List" },
          { value: "sitemap", label: "Sitemap" },
          { value: "start", label: "Links" },
        ]}
      />
      {draft.source === "urls" && (
        <Field label="Addresses" hint="One per line.">
          {(ids) => (
            <Textarea
              {...ids}
              rows={6}
              value={draft.urls}
              placeholder="https://shop.example/products/1"
              onChange={(event) => change({ urls: event.target.value })}
            />
          )}
        </Field>
      )}
      {draft.source === "sitemap" && (
        <Field label="Address of the sitemap" hint="A sitemap or an index of sitemaps, gzipped or not.">
          {(ids) => (
            <Input
              {...ids}
              type="url"
              value={draft.sitemap}
              placeholder="https://shop.example/sitemap.xml"
              onChange={(event) => change({ sitemap: event.target.value })}
            />
          )}
        </Field>
      )}
      {draft.source === "start" && <LinksFields draft={draft} change={change} />}
    </Card>
  );
}

function LinksFields({ draft, change }: Props) {
  return (
    <>
      <Field label="Start page" hint="Links to the same host are followed.">
        {(ids) => (
          <Input
            {...ids}
            type="url"
            value={draft.start}
            placeholder="https://shop.example/"
            onChange={(event) => change({ start: event.target.value })}
          />
        )}
      </Field>
      <Field label="Paths to follow" hint="One per line, such as /products/*. Empty: all.">
        {(ids) => (
          <Textarea
            {...ids}
            rows={2}
            value={draft.follow}
            onChange={(event) => change({ follow: event.target.value })}
          />
        )}
      </Field>
      <Field label="Maximum pages" className="max-w-40">
        {(ids) => (
          <Input
            {...ids}
            type="number"
            min={1}
            max={50000}
            value={draft.limit}
            onChange={(event) => change({ limit: Number(event.target.value) || 1 })}
          />
        )}
      </Field>
    </>
  );
}

function OptionsCard({ draft, change }: Props) {
  return (
    <Card className="space-y-4 p-4">
      <h2 className="text-base font-semibold">The run</h2>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Kind of pages">
          {(ids) => (
            <Select
              {...ids}
              value={draft.kind}
              onChange={(event) => change({ kind: event.target.value as CrawlDraft["kind"] })}
            >
              <option value="auto">Products or job postings</option>
              <option value="product">Products</option>
              <option value="job">Job postings</option>
            </Select>
          )}
        </Field>
        <Field label="Requests a second">
          {(ids) => (
            <Select
              {...ids}
              value={String(draft.rate)}
              onChange={(event) => change({ rate: Number(event.target.value) })}
            >
              <option value="0.2">1 every 5 seconds</option>
              <option value="1">1 per second</option>
              <option value="5">5 per second</option>
              <option value="20">20 per second, for your own sites</option>
            </Select>
          )}
        </Field>
      </div>
      <label className="flex items-center gap-2 text-sm">
        <Checkbox checked={draft.robots} onChange={(event) => change({ robots: event.target.checked })} />
        Obey robots.txt
      </label>
      <label className="flex items-center gap-2 text-sm">
        <Checkbox checked={draft.recrawl} onChange={(event) => change({ recrawl: event.target.checked })} />
        Also write unchanged pages
      </label>
    </Card>
  );
}

function Start({ draft }: { draft: CrawlDraft }) {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const order = runOrder(draft);
  // Pressed twice, it is still one run; changed, it is another.
  const asked = JSON.stringify(order);
  const attempt = useMemo(() => `ui-${randomId()}-${asked.length}`, [asked]);
  const start = async () => {
    if (!order) return;
    setBusy(true);
    setError(null);
    try {
      const made = await ok(
        client.POST("/api/runs", { headers: { "Idempotency-Key": attempt }, body: order as never }),
      );
      await navigate({ to: "/runs/$runId", params: { runId: made.runId } });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <Button look="primary" busy={busy} disabled={!order} onClick={() => void start()}>
        {!busy && <Play aria-hidden />} Start the run
      </Button>
      {!order && <p className="text-xs text-ink-3">Name a company and at least one page.</p>}
    </>
  );
}
