import { useQueryClient } from "@tanstack/react-query";
import { Zap } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { client, type FullJob, ok } from "../../lib/api";
import { isLive } from "../../lib/states";

/** For installations without workers: this page asks for slice after slice while it is open. */
export function ProcessNow({ job, onEnd }: { job: FullJob; onEnd: () => void }) {
  const queries = useQueryClient();
  const [slices, setSlices] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    const stop = new AbortController();
    const run = async () => {
      while (!stop.signal.aborted) {
        const done = await ok(
          client.POST("/api/jobs/{job_id}/kickoff", {
            params: { path: { job_id: job.id }, query: { durationMs: 4000 } },
            signal: stop.signal,
          }),
        );
        queries.setQueryData(["job", job.id], done.job);
        setSlices((count) => count + done.slices);
        if (!isLive(done.job.state) || done.job.state === "paused") {
          end.current();
          return;
        }
        // Nothing was due: a retry waits, or a worker holds the rest.
        if (done.slices === 0) await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    };
    run().catch((problem) => {
      if (!stop.signal.aborted) setError(problem);
    });
    return () => stop.abort();
  }, [job.id, queries]);
  return (
    <div
      role="status"
      className="flex basis-full flex-wrap items-center gap-2 rounded-md border border-processing/30 bg-processing-bg px-3 py-1.5 text-sm text-processing"
    >
      <Zap className="size-4" aria-hidden />
      <span className="flex-1">
        This page works on the job ({slices} {slices === 1 ? "slice" : "slices"} so far). Keep it open; what
        is done is done, also if you close it.
      </span>
      <Button size="sm" onClick={onEnd}>
        Stop
      </Button>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </div>
  );
}
