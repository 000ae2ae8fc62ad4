import { useQueryClient } from "@tanstack/react-query";
import { Link2, X } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { client, ok, type Preview } from "../../lib/api";
import { nameOf } from "./url-name";

/** A file on the web: the server fetches it, under guard, and keeps it as if it had been sent. */
export function ByUrl({ onFile }: { onFile: (file: { id: string; name: string }) => void }) {
  const queries = useQueryClient();
  const stop = useRef<AbortController | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const fetchIt = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const url = String(new FormData(event.currentTarget).get("url")).trim();
    if (!url || busy) return;
    const mine = new AbortController();
    stop.current = mine;
    setError(null);
    setBusy(true);
    try {
      const seen = (await ok(
        client.POST("/api/jobs/preview", { body: { url } as never, signal: mine.signal }),
      )) as Preview;
      // What is known of it by now need not be asked for again.
      queries.setQueryData(["preview", seen.fileId, "{}"], seen);
      if (seen.fileId) onFile({ id: seen.fileId, name: nameOf(url) });
    } catch (problem) {
      if (!mine.signal.aborted) setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={fetchIt} className="space-y-2">
      <Field
        label="Or a file on the web"
        hint="The server downloads it once, from public addresses only. Only the host name is stored."
      >
        {(ids) => (
          <div className="flex flex-wrap gap-2">
            <Input
              {...ids}
              name="url"
              type="url"
              required
              maxLength={4000}
              placeholder="https://supplier.example/prices.csv"
              className="min-w-0 flex-1 basis-60"
            />
            <Button type="submit" busy={busy}>
              {!busy && <Link2 aria-hidden />} {busy ? "Fetching …" : "Download"}
            </Button>
            {busy && (
              <Button onClick={() => stop.current?.abort()}>
                <X aria-hidden /> Stop
              </Button>
            )}
          </div>
        )}
      </Field>
      {error !== null && <ErrorNote error={error} />}
    </form>
  );
}
