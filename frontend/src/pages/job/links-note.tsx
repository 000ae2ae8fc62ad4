import { useInfiniteQuery } from "@tanstack/react-query";
import { Link2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { client, type FullJob, ok } from "../../lib/api";
import { plural } from "../../lib/format";
import { useCanWrite } from "../../lib/session";
import { ReviewLinks } from "./review-links";

/** Links to products of other sources that the job proposes, until they are decided. */
export function LinksNote({ job }: { job: FullJob }) {
  const canWrite = useCanWrite();
  const [reviewing, setReviewing] = useState(false);
  const linked = Number((job.summary as { linked?: unknown } | null)?.linked ?? 0);
  const links = useInfiniteQuery({
    queryKey: ["links", "job", job.id, job.updatedAt],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/jobs/{job_id}/links", {
          params: { path: { job_id: job.id }, query: { pageSize: 100, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    enabled: linked > 0,
  });
  const rows = links.data?.pages.flatMap((page) => page.items) ?? [];
  const more = links.hasNextPage;
  if (rows.length === 0 && !more && !reviewing) return null;
  return (
    <section
      aria-label="Proposed links"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border bg-surface px-4 py-2.5 text-sm"
    >
      <Link2 className="size-4 shrink-0 text-accent" aria-hidden />
      <span className="min-w-0 flex-1 basis-60">
        <strong>
          {plural(rows.length, "possible match", "possible matches")}
          {more && " or more"} in other sources
        </strong>
        : products that share a GTIN, or brand and MPN. Accepted links show prices side by side.
      </span>
      <Button size="sm" onClick={() => setReviewing(true)}>
        Review links
      </Button>
      {reviewing && (
        <ReviewLinks
          job={job}
          rows={rows}
          query={links}
          canDecide={canWrite}
          onClose={() => setReviewing(false)}
        />
      )}
    </section>
  );
}
