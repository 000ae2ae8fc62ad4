import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowLeft, ArrowRight, Upload } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { TourNote } from "../../components/tour";
import { ApiProblem, client, ok, type Preview } from "../../lib/api";
import type { MappedColumn } from "../../lib/mapping";
import { useCanWrite } from "../../lib/session";
import { ConfirmStep } from "./confirm";
import { CrawlSteps } from "./crawl/crawl-steps";
import { configOf, useDraft } from "./draft";
import { DryRun } from "./dry-run";
import { FileStep } from "./file-step";
import { LookupSteps } from "./lookup/lookup-steps";
import { MappingStep } from "./mapping-step";
import { Reading } from "./reading";
import { ShopSteps } from "./shop/shop-steps";
import { SourceChoice } from "./source-choice";
import { proposeSource } from "./source-name";
import { SHOWS_ROWS, STEPS, type Step, Stepper } from "./stepper";
import { useWholeCheck, WholeCheck } from "./whole-check";

/** What no other way of reading the file would help. */
const HOPELESS = new Set([
  "FILE_PASSWORD_PROTECTED",
  "UNSUPPORTED_TYPE",
  "EMPTY_FILE",
  "FILE_NOT_FOUND",
  "FILE_TOO_LARGE",
]);

export default function Wizard() {
  const canWrite = useCanWrite();
  if (!canWrite) {
    return (
      <Page title="New job">
        <EmptyState icon={Upload} title="Viewers cannot upload files">
          Ask an admin of your organisation for the role “member” to upload files.
        </EmptyState>
      </Page>
    );
  }
  return <Sources />;
}

/** A file, a connected shop, web pages, or a lookup of a list or photos. */
function Sources() {
  const { source } = useSearch({ from: "/inside/new" });
  if (source === "crawl") return <CrawlSteps />;
  if (source === "lookup") return <LookupSteps />;
  return source === "shop" ? <ShopSteps /> : <Steps />;
}

function Steps() {
  const search = useSearch({ from: "/inside/new" });
  const navigate = useNavigate();
  const [draft, change] = useDraft(search.file);
  const checked = useWholeCheck(draft);
  const heading = useRef<HTMLDivElement>(null);
  const step: Step = search.file ? (STEPS.find((one) => one.id === search.step)?.id ?? "reading") : "file";
  const config = configOf(draft);
  const look = useQuery({
    queryKey: ["preview", search.file, JSON.stringify(config)],
    queryFn: ({ signal }) =>
      ok(
        client.POST("/api/jobs/preview", { body: { fileId: search.file, config } as never, signal }),
      ) as Promise<Preview>,
    enabled: !!search.file,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const proposed = look.data?.source === "file" && draft.source === undefined;
  useEffect(() => {
    if (proposed) change({ source: proposeSource(search.name ?? "") });
  }, [proposed, change, search.name]);
  const go = (next: Step) =>
    void navigate({
      to: "/new",
      search: next === "file" ? {} : { ...search, step: next, sample: undefined },
    });
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    document.getElementById("main")?.scrollTo({ top: 0 });
  }, [step]);

  // An option that the server refuses leaves the table as it was, to be corrected there.
  const [good, setGood] = useState<{ file: string; preview: Preview } | null>(null);
  useEffect(() => {
    if (look.data && search.file) setGood({ file: search.file, preview: look.data });
  }, [look.data, search.file]);
  const preview = look.data ?? (good?.file === search.file ? good?.preview : undefined);
  // Rows of other choices: links decided on them would be of other products.
  const stale = look.isPlaceholderData;
  const hopeless = look.error instanceof ApiProblem && HOPELESS.has(look.error.code);
  const at = STEPS.findIndex((one) => one.id === step);
  const columns = (preview?.mapping ?? []) as unknown as MappedColumn[];
  const open = step === "mapping" && preview?.questions.some((one) => !one.optional) === true;
  const before = STEPS[at - 1];
  const after = STEPS[at + 1];
  return (
    <Page title="New job" lead={search.name ?? "Import a supplier file, step by step."}>
      <Stepper step={step} onStep={go} reachable={!!preview} stale={stale} />
      <div ref={heading} tabIndex={-1} className="outline-none">
        <TourNote place={step} />
      </div>
      {step === "file" && <SourceChoice value="file" />}
      {step === "file" ? (
        <FileStep
          sample={search.sample ?? false}
          onFile={(file) =>
            void navigate({ to: "/new", search: { file: file.id, name: file.name, step: "reading" } })
          }
        />
      ) : (
        <>
          {look.error && (
            <ErrorNote
              error={look.error}
              onRetry={hopeless ? undefined : () => void look.refetch()}
              className="mb-4"
            />
          )}
          {look.isPending && <RowsSkeleton />}
          {hopeless || (look.error && (step === "dryrun" || step === "confirm")) ? null : (
            <>
              {step === "reading" && (
                <Reading preview={preview} draft={draft} change={change} busy={look.isFetching} />
              )}
              {preview && step === "mapping" && (
                <MappingStep columns={columns} preview={preview} draft={draft} change={change} />
              )}
              {look.data && step === "dryrun" && search.file && (
                <div className="space-y-4" inert={stale} aria-busy={stale}>
                  <WholeCheck
                    preview={look.data}
                    fileId={search.file}
                    fileName={search.name ?? "file"}
                    draft={draft}
                    change={change}
                  />
                  <DryRun
                    preview={look.data}
                    isWholeChecked={checked?.state === "done"}
                    draft={draft}
                    change={change}
                  />
                </div>
              )}
              {look.data && step === "confirm" && search.file && (
                <ConfirmStep
                  preview={look.data}
                  fileId={search.file}
                  fileName={search.name ?? "file"}
                  draft={draft}
                  change={change}
                />
              )}
            </>
          )}
          <div className="mt-5 flex items-center gap-2">
            {hopeless ? (
              <Button look="primary" onClick={() => go("file")}>
                <ArrowLeft aria-hidden /> Choose another file
              </Button>
            ) : (
              before && (
                <Button onClick={() => go(before.id)}>
                  <ArrowLeft aria-hidden /> {before.label}
                </Button>
              )
            )}
            {after && !hopeless && (
              <Button
                look="primary"
                disabled={!look.data || (stale && SHOWS_ROWS.has(after.id)) || !!look.error || open}
                onClick={() => go(after.id)}
              >
                {after.label} <ArrowRight aria-hidden />
              </Button>
            )}
            {open && !look.isFetching && (
              <span role="status" className="text-sm text-error">
                Answer the question above first.
              </span>
            )}
            {look.isFetching && look.data && (
              <span role="status" className="text-sm text-ink-2">
                Reading the file again …
              </span>
            )}
          </div>
        </>
      )}
    </Page>
  );
}
