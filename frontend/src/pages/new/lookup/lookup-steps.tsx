import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Images, ScanSearch, X } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../../components/button";
import { ErrorNote } from "../../../components/error-note";
import { Checkbox, Field, Input, Select } from "../../../components/field";
import { Card, Page } from "../../../components/page";
import { client, ok } from "../../../lib/api";
import { bytes, plural } from "../../../lib/format";
import { lookupOrder, MOST_FILES, sizeOf } from "../../../lib/lookup";
import { randomId } from "../../../lib/random";
import { SourceChoice } from "../source-choice";
import { DropArea } from "./drop-area";
import { type Chosen, useUploads } from "./uploads";

/** Drop a list or photos, and find the product of each row or photo. */
export function LookupSteps() {
  const uploads = useUploads();
  return (
    <Page title="New job" lead="Find the product of each row of a list, or of each photo.">
      <SourceChoice value="lookup" />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[2fr_1fr]">
        <section className="min-w-0 space-y-4" aria-label="Files to look up">
          <DropArea onFiles={uploads.add} />
          {uploads.tooMany && (
            <p role="alert" className="text-sm text-error">
              A lookup takes at most {MOST_FILES} files. Put photos into a ZIP archive.
            </p>
          )}
          {uploads.files.length > 0 && (
            <FileList files={uploads.files} onRemove={uploads.remove} onRetry={uploads.retry} />
          )}
        </section>
        <StartCard files={uploads.files} />
      </div>
    </Page>
  );
}

interface ListProps {
  files: Chosen[];
  onRemove: (key: string) => void;
  onRetry: (key: string) => void;
}

function FileList({ files, onRemove, onRetry }: ListProps) {
  return (
    <Card className="overflow-hidden">
      <h2 className="flex items-center gap-2 border-b px-4 py-2.5 text-base font-semibold">
        <Images className="size-4 text-ink-3" aria-hidden /> {plural(files.length, "file")},{" "}
        {bytes(sizeOf(files))}
      </h2>
      <ul className="max-h-96 divide-y overflow-y-auto" tabIndex={0} aria-label="Chosen files">
        {files.map((one) => (
          <li key={one.key} className="flex items-center gap-3 px-4 py-1.5 text-sm">
            {one.preview ? (
              <img src={one.preview} alt="" className="size-8 shrink-0 rounded border object-cover" />
            ) : (
              <span className="size-8 shrink-0 rounded border bg-sunken" aria-hidden />
            )}
            <span className="min-w-0 flex-1">
              <span className="block truncate">{one.file.name}</span>
              <span className="block text-xs text-ink-2">
                {one.error ? <span className="text-error">{one.error}</span> : stateOf(one)}
              </span>
            </span>
            {one.error && (
              <Button size="sm" onClick={() => onRetry(one.key)}>
                Send again
              </Button>
            )}
            <Button
              size="icon-sm"
              look="quiet"
              aria-label={`Remove ${one.file.name}`}
              onClick={() => onRemove(one.key)}
            >
              <X aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function stateOf(one: Chosen): string {
  if (one.id) return `${bytes(one.file.size)}, stored`;
  return one.share > 0 ? `${Math.floor(100 * one.share)} % sent` : "Waiting to upload";
}

/** Where is searched, how sure a match must be, and the button that starts it. */
function StartCard({ files }: { files: Chosen[] }) {
  const navigate = useNavigate();
  const [options, setOptions] = useState({ name: "", accept: "0.8", sources: true });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const sources = useQuery({
    queryKey: ["sources"],
    queryFn: ({ signal }) => ok(client.GET("/api/sources", { signal })),
    staleTime: 60_000,
  });
  const enabled = (sources.data?.items ?? []).filter((one) => one.enabled).length;
  const ready = files.length > 0 && files.every((one) => one.id !== null);
  const order = lookupOrder(files, options);
  // Pressed twice, it is still one job; changed, it is another.
  const asked = JSON.stringify(order);
  const attempt = useMemo(() => `ui-${randomId()}-${asked.length}`, [asked]);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      const made = await ok(
        client.POST("/api/jobs", { headers: { "Idempotency-Key": attempt }, body: order as never }),
      );
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId } });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Card className="space-y-4 p-4 lg:sticky lg:top-0">
      <h2 className="text-base font-semibold">The lookup</h2>
      <Field label="Name">
        {(ids) => (
          <Input
            {...ids}
            maxLength={200}
            placeholder={files[0]?.file.name ?? "Lookup"}
            value={options.name}
            onChange={(event) => setOptions({ ...options, name: event.target.value })}
          />
        )}
      </Field>
      <Field label="A product is a match" hint="Below that, you choose among candidates.">
        {(ids) => (
          <Select
            {...ids}
            value={options.accept}
            onChange={(event) => setOptions({ ...options, accept: event.target.value })}
          >
            <option value="0.7">from 70 % confidence</option>
            <option value="0.8">from 80 % confidence</option>
            <option value="0.9">from 90 % confidence</option>
          </Select>
        )}
      </Field>
      <label className="flex items-start gap-2 text-sm">
        <Checkbox
          className="mt-0.5"
          checked={options.sources}
          onChange={(event) => setOptions({ ...options, sources: event.target.checked })}
        />
        <span>
          Ask the sources where the catalog has no match
          <span className="block text-xs text-ink-3">
            {enabled > 0 ? `${plural(enabled, "source is", "sources are")} enabled.` : "None is enabled yet."}
          </span>
        </span>
      </label>
      {error !== null && <ErrorNote error={error} />}
      <Button look="primary" className="w-full" busy={busy} disabled={!ready} onClick={() => void start()}>
        {!busy && <ScanSearch aria-hidden />} Look up {plural(files.length, "file")}
      </Button>
      <p className="text-xs text-ink-3">
        {ready || files.length === 0
          ? "A lookup writes nothing to the catalog."
          : "The files are still uploading."}{" "}
        <Link to="/jobs" search={{ pipeline: "lookup" }} className="plain-link">
          Earlier lookups
        </Link>
      </p>
    </Card>
  );
}
