// Rows that wait for their next try, tried now.
import { client, ok } from "./api";

interface Filter {
  jobId?: string;
  jobType?: string;
  userId?: "me" | "all";
  from?: string;
  to?: string;
}

export type Which = { rows: string[] } | { all: Filter };

const MOST_NAMED = 1000;

/** By id, or all that match; answers how many were waiting. */
export async function tryNow(which: Which): Promise<number> {
  let retried = 0;
  if ("rows" in which) {
    for (let at = 0; at < which.rows.length; at += MOST_NAMED) {
      retried += (await send({ itemIds: which.rows.slice(at, at + MOST_NAMED), all: false })).retried;
    }
    return retried;
  }
  // What fails again meanwhile waits for a good reason.
  const to = which.all.to ?? new Date().toISOString();
  for (;;) {
    const made = await send({ ...which.all, to, itemIds: [], all: true });
    retried += made.retried;
    if (!made.more) return retried;
  }
}

function send(body: Filter & { itemIds: string[]; all: boolean }) {
  return ok(client.POST("/api/pending/retry", { body: { userId: "me", jobType: "", ...body } }));
}
