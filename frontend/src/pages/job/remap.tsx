import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { MappingTable } from "../../components/mapping-table";
import { toast } from "../../components/toast";
import { client, type FullJob, ok } from "../../lib/api";
import { plural } from "../../lib/format";
import type { MappedColumn, Mapping } from "../../lib/mapping";

interface Candidate {
  column: string;
  samples: string[];
}

/** The columns that can be remapped: as the job has read them, or, where it failed for want of a
 * mapping, those of its file. Null where there is nothing to map. */
export function columnsToMap(job: FullJob): MappedColumn[] | null {
  if (job.mapping) return job.mapping as unknown as MappedColumn[];
  const error = job.lastError as { code?: string; details?: { candidates?: Candidate[] } } | null;
  if (error?.code !== "MAPPING_NEEDED" || !job.header) return null;
  const samples = new Map(error.details?.candidates?.map((one) => [one.column, one.samples]));
  const asked = (job.config.mapping as Mapping | undefined) ?? {};
  return job.header.map((column) => ({
    column,
    target: asked[column] ?? null,
    confidence: 1,
    how: "given",
    fill: 1,
    samples: samples.get(column) ?? [],
    alternatives: [],
  }));
}

/** The same rows with another mapping; the file is not sent again. */
export function Remap({ job, onClose }: { job: FullJob; onClose: () => void }) {
  const queries = useQueryClient();
  const [mapping, setMapping] = useState<Mapping>({});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    const asked = (job.config.mapping as Mapping | undefined) ?? {};
    try {
      const done = await ok(
        client.POST("/api/jobs/{job_id}/remap", {
          params: { path: { job_id: job.id } },
          body: { config: { mapping: { ...asked, ...mapping } } },
        }),
      );
      queries.setQueryData(["job", job.id], done.job);
      void queries.invalidateQueries({ queryKey: ["operations"] });
      toast.success("All rows run again with the new mapping");
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
      title="Remap columns"
      description={`All ${plural(job.counters.total, "row")} run again from the start. The file is not uploaded again.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" busy={busy} disabled={Object.keys(mapping).length === 0} onClick={run}>
            Run all rows again
          </Button>
        </>
      }
    >
      {error !== null && <ErrorNote error={error} className="mb-3" />}
      <MappingTable columns={columnsToMap(job) ?? []} mapping={mapping} onChange={setMapping} />
    </Dialog>
  );
}
