import { Link } from "@tanstack/react-router";
import { CircleHelp } from "lucide-react";
import type { FullJob } from "../../lib/api";
import { plural } from "../../lib/format";
import { AMBIGUOUS } from "../../lib/lookup";

/** Rows of a lookup that a person must decide about. */
export function AmbiguousNote({ job }: { job: FullJob }) {
  const many = job.errors[AMBIGUOUS] ?? 0;
  if (many === 0) return null;
  return (
    <section
      aria-label="Ambiguous rows"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border bg-surface px-4 py-2.5 text-sm"
    >
      <CircleHelp className="size-4 shrink-0 text-paused" aria-hidden />
      <span className="min-w-0 flex-1 basis-60">
        <strong>{plural(many, "row is", "rows are")} ambiguous.</strong> Open a row and choose the right
        product.
      </span>
      <Link
        to="/jobs/$jobId"
        params={{ jobId: job.id }}
        search={{ code: AMBIGUOUS, statuses: "SKIPPED" }}
        className="plain-link"
      >
        Show rows
      </Link>
    </section>
  );
}
