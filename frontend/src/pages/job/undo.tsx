import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { AfterAMoment, Bone } from "../../components/skeleton";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { count, plural } from "../../lib/format";

/** What an undo would do is told first; then it is done, in as many calls as it takes. */
export function Undo({ job, onClose }: { job: FullJob; onClose: () => void }) {
  const queries = useQueryClient();
  // A run changes job postings, too.
  const noun = job.pipeline === "crawl" ? "record" : "product";
  const [done, setDone] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const path = { path: { job_id: job.id } };
  const look = useQuery({
    queryKey: ["job", job.id, "undo"],
    queryFn: ({ signal }) =>
      ok(client.POST("/api/jobs/{job_id}/undo", { params: { ...path, query: { dryRun: true } }, signal })),
    gcTime: 0,
  });
  const run = async () => {
    setError(null);
    let total = 0;
    setDone(0);
    try {
      for (;;) {
        const some = await ok(client.POST("/api/jobs/{job_id}/undo", { params: path }));
        total += some.restored + some.deleted;
        setDone(total);
        if (!some.more) break;
      }
      toast.success(`${plural(total, noun)} restored`);
      void queries.invalidateQueries({ queryKey: ["job", job.id] });
      void queries.invalidateQueries({ queryKey: ["products"] });
      onClose();
    } catch (problem) {
      setError(problem);
      setDone(null);
    }
  };
  const told = look.data;
  const nothing = told && told.restored + told.deleted === 0;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Undo this import?"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" disabled={!told || nothing} busy={done !== null} onClick={run}>
            {done === null ? "Undo the import" : `${count(done)} undone`}
          </Button>
        </>
      }
    >
      <div className="space-y-3 text-sm text-ink-2">
        {look.error && <ErrorNote error={look.error} onRetry={() => void look.refetch()} />}
        {look.isPending && (
          <AfterAMoment>
            <Bone className="h-4 w-3/4" />
          </AfterAMoment>
        )}
        {told &&
          (nothing ? (
            <p>Nothing to undo: the job changed nothing, or was already undone.</p>
          ) : (
            <p>
              {[
                told.restored > 0 &&
                  `${plural(told.restored, noun)} will be restored to the state before the job`,
                told.deleted > 0 && `${plural(told.deleted, noun)} that the job created will be removed`,
              ]
                .filter(Boolean)
                .join(", and ")}
              {told.more && ", and more after that"}.
            </p>
          ))}
        {told && told.refusedCount > 0 && (
          <p>
            {plural(told.refusedCount, `${noun} was`, `${noun}s were`)} changed since and will be left alone.
            Undo the later job first.
          </p>
        )}
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
