import { FileUp, X } from "lucide-react";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { ProgressBar } from "../../components/progress";
import { send } from "../../lib/api";
import { cn } from "../../lib/cn";
import { bytes } from "../../lib/format";
import { setPrefs } from "../../lib/prefs";
import { type StoredFile, uploadFile } from "../../lib/upload";
import { ByUrl } from "./by-url";

interface Props {
  sample: boolean;
  onFile: (file: Pick<StoredFile, "id" | "name">) => void;
}

/** Drop a file, choose one, name one on the web, or take the sample. */
export function FileStep({ sample, onFile }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const stop = useRef<AbortController | null>(null);
  const [over, setOver] = useState(false);
  const [sending, setSending] = useState<{ file: File; share: number } | null>(null);
  const [error, setError] = useState<unknown>(null);

  const upload = async (file: File) => {
    stop.current?.abort();
    const mine = new AbortController();
    stop.current = mine;
    setError(null);
    setSending({ file, share: 0 });
    try {
      onFile(await uploadFile(file, (share) => setSending({ file, share }), mine.signal));
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem);
      setSending(null);
    }
  };
  const trySample = async () => {
    setPrefs({ tour: "on" });
    setError(null);
    try {
      const content = await (await send("/sample.csv")).blob();
      await upload(new File([content], "sample.csv", { type: "text/csv" }));
    } catch (problem) {
      setError(problem);
    }
  };
  const begun = useRef(false);
  useEffect(() => {
    if (sample && !begun.current) {
      begun.current = true;
      void trySample();
    }
  }, [sample]);

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file) void upload(file);
  };
  return (
    <div className="space-y-4">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the button is the way for all */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
        className={cn(
          "flex flex-col items-center rounded-lg border-2 border-dashed border-line-strong bg-surface px-4 py-12 text-center",
          over && "border-accent bg-accent-soft",
        )}
      >
        <FileUp className="mb-3 size-8 text-ink-3" aria-hidden />
        {sending ? (
          <div className="w-full max-w-sm space-y-2" role="status">
            <p className="truncate text-sm font-medium">
              {sending.file.name} · {bytes(sending.file.size)}
            </p>
            <ProgressBar value={100 * sending.share} label="Upload" />
            <p className="text-sm text-ink-2">
              {sending.share < 1 ? `${Math.floor(100 * sending.share)} % sent` : "Uploaded; reading it …"}
            </p>
            <Button
              size="sm"
              onClick={() => {
                stop.current?.abort();
                setSending(null);
              }}
            >
              <X aria-hidden /> Stop
            </Button>
          </div>
        ) : (
          <>
            <p className="text-base font-medium">Drop a supplier's file here</p>
            <p className="mt-1 max-w-md text-sm text-ink-2">
              CSV with any delimiter, Excel, OpenDocument, JSON, NDJSON or XML, also as zip or gzip, in any
              encoding.
            </p>
            <div className="mt-4 flex flex-wrap justify-center gap-2">
              <Button look="primary" onClick={() => input.current?.click()}>
                Choose a file
              </Button>
              <Button onClick={() => void trySample()}>Try it with a sample file</Button>
            </div>
          </>
        )}
        <input
          ref={input}
          type="file"
          aria-label="File"
          className="hidden"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = "";
            if (file) void upload(file);
          }}
        />
      </div>
      {error !== null && <ErrorNote error={error} />}
      {!sending && <ByUrl onFile={onFile} />}
    </div>
  );
}
