import { useQueryClient } from "@tanstack/react-query";
import { Pause, Play, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { plural } from "../../lib/format";
import { useCanWrite } from "../../lib/session";

/** What can be done with the job as it is now. */
export function Controls({ job }: { job: FullJob }) {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [cancelling, setCancelling] = useState(false);
  if (!canWrite) return null;
  const path = { params: { path: { job_id: job.id } } };
  const refresh = (fresh: FullJob) => queries.setQueryData(["job", job.id], fresh);
  const run = async (act: () => Promise<FullJob>, told: string) => {
    setBusy(true);
    setError(null);
    try {
      refresh(await act());
      toast.success(told);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const open = job.counters.pending + job.counters.processing;
  return (
    <>
      {["queued", "delayed", "running"].includes(job.state) && (
        <Button
          busy={busy}
          onClick={() => run(() => ok(client.POST("/api/jobs/{job_id}/pause", path)), "Paused")}
        >
          <Pause aria-hidden /> Pause
        </Button>
      )}
      {job.state === "paused" && (
        <Button
          look="primary"
          busy={busy}
          onClick={() => run(() => ok(client.POST("/api/jobs/{job_id}/resume", path)), "It goes on")}
        >
          <Play aria-hidden /> Resume
        </Button>
      )}
      {["queued", "delayed", "running", "paused"].includes(job.state) && (
        <Button onClick={() => setCancelling(true)}>
          <X aria-hidden /> Cancel
        </Button>
      )}
      <Confirm
        open={cancelling}
        onOpenChange={setCancelling}
        title="Cancel this job?"
        action="Cancel the job"
        danger
        onConfirm={async () => {
          refresh(await ok(client.POST("/api/jobs/{job_id}/cancel", path)));
          toast.success("Cancelled. Results so far stay.");
        }}
      >
        <p>
          {plural(open, "row")} will be skipped. Results so far stay, and the job can be taken up again with
          “Reprocess”.
        </p>
      </Confirm>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
