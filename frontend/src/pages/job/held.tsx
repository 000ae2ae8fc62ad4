import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, CirclePause } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { count, plural } from "../../lib/format";
import { useCanWrite } from "../../lib/session";
import { isLive } from "../../lib/states";
import { canBeImported } from "./import-checked";
import { ReviewHeld } from "./review-held";

const HELD = ["PRICE_CHANGE_HELD", "GTIN_CHANGE_HELD"] as const;

export function isHeld(code: string | undefined): boolean {
  return (HELD as readonly string[]).includes(code ?? "");
}

/** Accept rows that were held back: some by number, those of a code, or all of the job. */
export function useAccept(job: FullJob) {
  const queries = useQueryClient();
  return async (which: { itemIds?: number[]; codes?: string[] }) => {
    const done = await ok(
      client.POST("/api/jobs/{job_id}/reprocess", {
        params: { path: { job_id: job.id } },
        body: { accept: true, ...which },
      }),
    );
    queries.setQueryData(["job", job.id], done.job);
    void queries.invalidateQueries({ queryKey: ["operations"] });
    toast.success(
      done.operationId
        ? "The rows are being accepted in the background"
        : `${plural(done.reprocessed, "row is", "rows are")} accepted and written`,
    );
  };
}

/** Of a check: rows that its import would hold back. */
function WouldBeHeld({ job }: { job: FullJob }) {
  const [reviewing, setReviewing] = useState(false);
  const many = Number((job.summary as { held?: unknown } | null)?.held ?? 0);
  if (many === 0 || !canBeImported(job)) return null;
  return (
    <section
      aria-label="Rows held back"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border bg-surface px-4 py-2.5 text-sm"
    >
      <CirclePause className="size-4 shrink-0 text-paused" aria-hidden />
      <span className="min-w-0 flex-1 basis-60">
        <strong>{plural(many, "row", "rows")} would be held back</strong>: the price or GTIN of a known
        product changes too much. You can accept {many === 1 ? "it" : "them"} after the import.
      </span>
      <Button size="sm" onClick={() => setReviewing(true)}>
        Review
      </Button>
      {reviewing && (
        <ReviewHeld
          job={job}
          canAccept={false}
          onAccept={() => Promise.resolve()}
          onClose={() => setReviewing(false)}
        />
      )}
    </section>
  );
}

/** What the job asks, until it is answered. */
export function HeldNote({ job }: { job: FullJob }) {
  const canWrite = useCanWrite();
  const accept = useAccept(job);
  const [asking, setAsking] = useState(false);
  const [reviewing, setReviewing] = useState(false);
  const codes = HELD.filter((code) => (job.errors[code] ?? 0) > 0);
  const many = codes.reduce((sum, code) => sum + (job.errors[code] ?? 0), 0);
  // An undone job wrote nothing that stayed: accepting some of its rows would.
  if (job.undoneAt) return null;
  if (many === 0) return <WouldBeHeld job={job} />;
  return (
    <section
      aria-label="Rows held back"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border bg-surface px-4 py-2.5 text-sm"
    >
      <CirclePause className="size-4 shrink-0 text-paused" aria-hidden />
      <span className="min-w-0 flex-1 basis-60">
        <strong>{plural(many, "row is", "rows are")} held back</strong>: the price or GTIN of a known product
        changes too much. {many === 1 ? "It is" : "They are"} not written until you accept{" "}
        {many === 1 ? "it" : "them"}.
      </span>
      {codes.map((code) => (
        <Link
          key={code}
          to="/jobs/$jobId"
          params={{ jobId: job.id }}
          search={{ tab: "errors", code }}
          className="plain-link"
        >
          {code === "PRICE_CHANGE_HELD" ? "Prices" : "GTINs"} ({count(job.errors[code] ?? 0)})
        </Link>
      ))}
      <Button size="sm" onClick={() => setReviewing(true)}>
        Review
      </Button>
      {canWrite && !isLive(job.state) && (
        <Button size="sm" look="primary" onClick={() => setAsking(true)}>
          <Check aria-hidden /> Accept all
        </Button>
      )}
      {reviewing && (
        <ReviewHeld
          job={job}
          canAccept={canWrite && !isLive(job.state)}
          onAccept={(itemIds) => accept({ itemIds })}
          onClose={() => setReviewing(false)}
        />
      )}
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title={`Accept ${plural(many, "row")}?`}
        action={`Accept ${plural(many, "row")}`}
        onConfirm={() => accept({})}
      >
        <p>Their values are written to the catalog. Undoing the job reverts that.</p>
      </Confirm>
    </section>
  );
}
