import type { Schemas } from "../../lib/api";
import { plural } from "../../lib/format";
import { duration } from "../../lib/time";

type Seen = Pick<Schemas["Monitor"], "queue" | "lastHour">;

const LONG_WAIT_MS = 5 * 60_000;
const GOOD_RATE = 0.9;

/** What an operator must know first; every sentence but the last is something to look into. */
export function verdict({ queue, lastHour }: Seen): { well: boolean; says: string[] } {
  const says: string[] = [];
  if (queue.workers === 0) {
    says.push(
      queue.depth > 0
        ? `No worker is running: ${plural(queue.depth, "job stands", "jobs stand")} still.`
        : "No worker is running.",
    );
  }
  if (queue.level !== "healthy") says.push(`The queue is ${queue.level}: ${plural(queue.depth, "job")}.`);
  if (queue.workers > 0 && queue.waiting > 0 && queue.oldestWaitingMs > LONG_WAIT_MS) {
    says.push(`The oldest job has waited ${duration(queue.oldestWaitingMs)}.`);
  }
  if (lastHour.successRate !== null && lastHour.successRate < GOOD_RATE) {
    says.push(`${plural(lastHour.failed, "job")} failed in the last hour.`);
  }
  const well = says.length === 0;
  if (well) {
    says.push(
      queue.depth > 0
        ? `All is well: ${plural(queue.workers, "worker")} on ${plural(queue.depth, "job")}.`
        : `All is well: ${plural(queue.workers, "worker")}, nothing waits.`,
    );
  }
  return { well, says };
}
