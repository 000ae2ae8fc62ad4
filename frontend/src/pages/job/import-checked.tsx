import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { IntentChoice } from "../../components/intent-choice";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { plural } from "../../lib/format";
import { type Intent, WRITING } from "../../lib/intents";

/** Whether the job has only checked its rows, so that they can be imported now. */
export function canBeImported(job: FullJob): boolean {
  const intent = job.config.intent as Intent | undefined;
  return job.pipeline === "extraction" && job.state === "done" && (intent ?? "check") === "check";
}

/** Imports the rows of a check, with the corrections made to them. */
export function ImportChecked({ job, onClose }: { job: FullJob; onClose: () => void }) {
  const queries = useQueryClient();
  const [intent, setIntent] = useState<Intent>("merge");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      const done = await ok(
        client.POST("/api/jobs/{job_id}/remap", {
          params: { path: { job_id: job.id } },
          body: { config: { intent } },
        }),
      );
      queries.setQueryData(["job", job.id], done.job);
      void queries.invalidateQueries({ queryKey: ["operations"] });
      toast.success("The rows are being imported");
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      wide
      title="Import the checked rows"
      description={`${plural(job.counters.total, "row")} with your corrections. Rows with errors are not written. The import can be undone.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={busy} onClick={run}>
            Start the import
          </Button>
        </>
      }
    >
      {error !== null && <ErrorNote error={error} className="mb-3" />}
      <IntentChoice value={intent} intents={WRITING} onChange={setIntent} />
    </Dialog>
  );
}
