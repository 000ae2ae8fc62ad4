import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  BellOff,
  ChevronsDown,
  ChevronsUp,
  Copy,
  Ellipsis,
  Import,
  Mail,
  Pause,
  Play,
  RotateCw,
  Settings2,
  Sparkles,
  Undo2,
  X,
  Zap,
} from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Menu, MenuItem, MenuLine } from "../../components/menu";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { count, plural } from "../../lib/format";
import { mayWrite } from "../../lib/intents";
import { isEnrichment } from "../../lib/lookup";
import { useCanWrite } from "../../lib/session";
import { isLive } from "../../lib/states";
import { ExportMenu } from "./export-menu";
import { canBeImported, ImportChecked } from "./import-checked";
import { ProcessNow } from "./process-now";
import { columnsToMap, Remap } from "./remap";
import { Undo } from "./undo";

type Asking = "cancel" | "import" | "reprocess" | "undo" | "remap" | null;

/** What can be done with the job as it is now. */
export function Controls({ job }: { job: FullJob }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const { busy, error, attempt } = useAttempt();
  const [asking, setAsking] = useState<Asking>(null);
  const [processing, setProcessing] = useState(false);
  const watching = useQuery({
    queryKey: ["job", job.id, "watch"],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}/watch", { params: { path: { job_id: job.id } }, signal })),
    enabled: canWrite && isLive(job.state),
  });
  if (!canWrite) return <ExportMenu job={job} />;

  const path = { params: { path: { job_id: job.id } } };
  const refresh = (fresh: FullJob) => queries.setQueryData(["job", job.id], fresh);
  const pause = () =>
    attempt(async () => {
      refresh(await ok(client.POST("/api/jobs/{job_id}/pause", path)));
      toast.success("Paused. Running rows finish; no new ones start.");
    });
  const resume = () =>
    attempt(async () => {
      refresh(await ok(client.POST("/api/jobs/{job_id}/resume", path)));
      toast.success("The job continues");
    });
  const watched = watching.data?.watched ?? false;
  const watch = () =>
    attempt(async () => {
      const made = await ok(client.PUT("/api/jobs/{job_id}/watch", { ...path, body: { watched: !watched } }));
      queries.setQueryData(["job", job.id, "watch"], made);
      toast.success(made.watched ? "You get an e-mail when this job ends" : "No e-mail is sent");
    });
  const clone = () =>
    attempt(async () => {
      const made = await ok(client.POST("/api/jobs/{job_id}/clone", { ...path, body: {} }));
      toast.success("Copied as a new job");
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId } });
    });
  const enrich = () =>
    attempt(async () => {
      const made = await ok(client.POST("/api/jobs/{job_id}/enrich", { ...path, body: {} }));
      toast.success("Looking up the products. Nothing is written until you accept it.");
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId }, search: { tab: "proposals" } });
    });
  const setPriority = (priority: "high" | "low") =>
    attempt(async () => {
      refresh(
        await ok(
          client.POST("/api/jobs/{job_id}/priority", { ...path, body: { priority: priority as never } }),
        ),
      );
      toast.success(priority === "high" ? "Runs before your other jobs" : "Runs after your other jobs");
    });
  const live = isLive(job.state);
  const open = job.counters.pending + job.counters.processing;
  const failed = job.counters.error + job.counters.notFound;
  const undone = job.state === "failed" || job.state === "cancelled";
  const wrote = mayWrite(job);
  const close = () => setAsking(null);
  return (
    <>
      {["queued", "delayed", "running"].includes(job.state) && (
        <Button busy={busy} onClick={pause}>
          {!busy && <Pause aria-hidden />} Pause
        </Button>
      )}
      {job.state === "paused" && (
        <Button look="primary" busy={busy} onClick={resume}>
          {!busy && <Play aria-hidden />} Resume
        </Button>
      )}
      {live && job.state !== "cancelling" && (
        <Button onClick={() => setAsking("cancel")}>
          <X aria-hidden /> Cancel
        </Button>
      )}
      {!live && (failed > 0 || undone) && (
        <Button onClick={() => setAsking("reprocess")}>
          <RotateCw aria-hidden /> Reprocess
        </Button>
      )}
      {canBeImported(job) && (
        <Button look="primary" onClick={() => setAsking("import")}>
          <Import aria-hidden /> Import …
        </Button>
      )}
      <ExportMenu job={job} />
      <Menu
        trigger={
          <Button size="icon" aria-label="More actions">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        {live && job.state !== "paused" && (
          <MenuItem icon={Zap} onSelect={() => setProcessing(true)}>
            Process now in this page
          </MenuItem>
        )}
        {live && (
          <>
            <MenuItem icon={ChevronsUp} onSelect={() => setPriority("high")} hint={`now ${job.priority}`}>
              High priority
            </MenuItem>
            <MenuItem icon={ChevronsDown} onSelect={() => setPriority("low")}>
              Low priority
            </MenuItem>
          </>
        )}
        {!live && columnsToMap(job) && (
          <MenuItem icon={Settings2} onSelect={() => setAsking("remap")}>
            Remap columns …
          </MenuItem>
        )}
        {!live && wrote && !isEnrichment(job) && (
          <MenuItem icon={Sparkles} onSelect={enrich}>
            Look up missing values
          </MenuItem>
        )}
        {!live && wrote && (
          <MenuItem icon={Undo2} onSelect={() => setAsking("undo")} danger>
            Undo the import …
          </MenuItem>
        )}
        <MenuLine />
        {live && (
          <MenuItem icon={watched ? BellOff : Mail} onSelect={watch}>
            {watched ? "Do not e-mail me at the end" : "E-mail me when it ends"}
          </MenuItem>
        )}
        <MenuItem icon={Copy} onSelect={clone}>
          Run again as a new job
        </MenuItem>
      </Menu>
      {processing && live && <ProcessNow job={job} onEnd={() => setProcessing(false)} />}
      <Confirm
        open={asking === "cancel"}
        onOpenChange={close}
        title="Cancel this job?"
        action="Cancel the job"
        danger
        onConfirm={async () => {
          refresh(await ok(client.POST("/api/jobs/{job_id}/cancel", path)));
          toast.success("Cancelled. Results so far are kept.");
        }}
      >
        <p>
          {plural(open, "row")} will be skipped. Results so far stay, and “Reprocess” takes up what was left
          undone.
        </p>
      </Confirm>
      <Confirm
        open={asking === "reprocess"}
        onOpenChange={close}
        title="Run failed rows again?"
        action="Reprocess"
        onConfirm={async () => {
          const done = await ok(
            client.POST("/api/jobs/{job_id}/reprocess", {
              ...path,
              body: { scope: "job", resetAttempts: true, fromStart: false },
            }),
          );
          refresh(done.job);
          void queries.invalidateQueries({ queryKey: ["operations"] });
          toast.success(`${plural(done.reprocessed, "row runs", "rows run")} again`);
        }}
      >
        <p>
          {count(failed)} failed {failed === 1 ? "row starts" : "rows start"} again, each in the stage in
          which it ended.
          {undone && " Unfinished rows are included."}
        </p>
      </Confirm>
      {asking === "undo" && <Undo job={job} onClose={close} />}
      {asking === "import" && <ImportChecked job={job} onClose={close} />}
      {asking === "remap" && <Remap job={job} onClose={close} />}
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </>
  );
}
