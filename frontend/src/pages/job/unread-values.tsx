import { useQuery, useQueryClient } from "@tanstack/react-query";
import { BookmarkPlus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Input } from "../../components/field";
import { toast } from "../../components/toast";
import { client, type FullJob, ok, type Schemas } from "../../lib/api";
import { plural } from "../../lib/format";
import { fieldLabel } from "../../lib/labels";
import { useCanWrite } from "../../lib/session";
import { isLive } from "../../lib/states";

const SHOWN = 4;

/** Values that could not be read in several rows: what they mean can be saved for the source. */
export function UnreadValues({ job }: { job: FullJob }) {
  const canWrite = useCanWrite();
  const queries = useQueryClient();
  const [saved, setSaved] = useState<string[]>([]);
  const [all, setAll] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const enabled = canWrite && !isLive(job.state) && job.pipeline === "extraction";
  const found = useQuery({
    queryKey: ["job", job.id, "unread", job.updatedAt],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/unread-values", { params: { path: { job_id: job.id } }, signal })),
    enabled,
  });
  if (!enabled || !found.data || found.data.items.length === 0) return null;
  const source = found.data.source;
  const items = all ? found.data.items : found.data.items.slice(0, SHOWN);
  const apply = async () => {
    setError(null);
    try {
      const done = await ok(
        client.POST("/api/jobs/{job_id}/remap", {
          params: { path: { job_id: job.id } },
          body: { config: { source } },
        }),
      );
      queries.setQueryData(["job", job.id], done.job);
      setSaved([]);
      toast.success("All rows of this job run again with the saved values");
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <section aria-label="Values that could not be read" className="rounded-md border bg-surface px-4 py-2.5">
      <h2 className="text-sm font-medium">Values that could not be read</h2>
      <p className="text-xs text-ink-2">
        Enter what a value means. It is read that way in all later files of <strong>{source}</strong>.
      </p>
      <ul className="mt-2 space-y-1.5">
        {items.map((one) => {
          const key = `${one.field} ${one.value}`;
          return (
            <Offer
              key={`${one.column} ${key} ${one.code}`}
              source={source}
              one={one}
              done={saved.includes(key)}
              onDone={() => setSaved((now) => [...now, key])}
              onError={setError}
            />
          );
        })}
      </ul>
      <div className="mt-2 flex flex-wrap gap-2">
        {!all && found.data.items.length > SHOWN && (
          <Button size="sm" look="quiet" onClick={() => setAll(true)}>
            Show all {found.data.items.length}
          </Button>
        )}
        {saved.length > 0 && (
          <Button size="sm" look="primary" onClick={() => void apply()}>
            Read this job again
          </Button>
        )}
      </div>
      {error !== null && <ErrorNote error={error} />}
    </section>
  );
}

interface OfferProps {
  source: string;
  one: Schemas["UnreadWords"]["items"][number];
  done: boolean;
  onDone: () => void;
  onError: (problem: unknown) => void;
}

function Offer({ source, one, done, onDone, onError }: OfferProps) {
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    onError(null);
    try {
      await ok(
        client.PUT("/api/saved-values", {
          body: { source, field: one.field, word: one.value, value },
        }),
      );
      toast.success(`“${one.value}” is read as ${value ? `“${value}”` : "empty"} from now on`);
      onDone();
    } catch (problem) {
      onError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <li>
      <form onSubmit={save} className="flex flex-wrap items-center gap-2 text-sm">
        <span className="min-w-0 flex-1 basis-56">
          <strong className="break-all">“{one.value}”</strong> in {one.column ?? fieldLabel(one.field)}{" "}
          <span className="text-ink-2">({plural(one.rows, "row")})</span>
        </span>
        {done ? (
          <span className="text-ink-2">Saved</span>
        ) : (
          <>
            <Input
              className="w-40"
              aria-label={`Always read “${one.value}” as`}
              placeholder="Read as empty"
              value={value}
              onChange={(event) => setValue(event.target.value)}
            />
            <Button size="sm" type="submit" busy={busy}>
              <BookmarkPlus aria-hidden /> Save
            </Button>
          </>
        )}
      </form>
    </li>
  );
}
