import type { FullJob } from "../../lib/api";

/** Rows of a file that are neither valid nor invalid, such as headings between the products. */
export function rowsLeftOut(job: Pick<FullJob, "counters" | "summary">): number {
  const { valid, invalid } = (job.summary ?? {}) as { valid?: number; invalid?: number };
  return valid === undefined || invalid === undefined ? 0 : Math.max(0, job.counters.total - valid - invalid);
}
