import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { ChevronLeft, Download, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok, type Schemas } from "../../lib/api";
import { bytes, cellText } from "../../lib/format";
import { useCanWrite } from "../../lib/session";
import { Changes } from "../job/changes";
import { FieldsTable } from "./fields-table";

type Version = Schemas["PageVersion"];

/** A page: what its newest version says, and what changed from version to version. */
export default function PagePage() {
  const { pageId } = useParams({ from: "/inside/pages/$pageId" });
  const page = useQuery({
    queryKey: ["pages", "one", pageId],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/pages/{page_id}", { params: { path: { page_id: pageId } }, signal })),
  });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const [asking, setAsking] = useState(false);
  const one = page.data;
  const newest = one?.versions[0];
  return (
    <Page
      title={cellText(one?.fields?.name ?? one?.fields?.title) || "Page"}
      lead={
        <Link
          to="/pages"
          search={one ? { company: one.company } : {}}
          className="inline-flex items-center text-ink-2 hover:text-ink"
        >
          <ChevronLeft className="size-4" aria-hidden /> {one ? `Pages of ${one.company}` : "Pages"}
        </Link>
      }
      beside={one?.state === "expired" && <Badge tone="not-found">Expired</Badge>}
      actions={
        one &&
        canWrite && (
          <Button look="quiet" onClick={() => setAsking(true)}>
            <Trash2 aria-hidden /> Delete
          </Button>
        )
      }
    >
      <Confirm
        open={asking}
        onOpenChange={() => setAsking(false)}
        title="Delete this page?"
        action="Delete"
        danger
        onConfirm={async () => {
          await ok(client.DELETE("/api/pages/{page_id}", { params: { path: { page_id: pageId } } }));
          toast.success("The page is deleted");
          void queries.invalidateQueries({ queryKey: ["postings"] });
          void queries.invalidateQueries({ queryKey: ["pages"], refetchType: "none" });
          void navigate({ to: "/pages", search: one ? { company: one.company } : {} });
        }}
      >
        <p>Its versions and its job posting are deleted. Products that were made from it stay.</p>
      </Confirm>
      {page.error && <ErrorNote error={page.error} onRetry={() => void page.refetch()} />}
      {!one || !newest ? (
        page.isPending && <RowsSkeleton />
      ) : (
        <>
          <p className="mb-4 text-sm break-all">
            <a href={one.url} rel="noreferrer noopener" target="_blank" className="plain-link">
              {one.url}
            </a>
          </p>
          <div className="grid gap-5 xl:grid-cols-[3fr_2fr]">
            <section className="min-w-0">
              <h2 className="mb-2 text-base font-semibold">Text of the page</h2>
              <FieldsTable fields={newest.fields ?? {}} lineage={newest.lineage ?? {}} />
            </section>
            <section className="min-w-0">
              <h2 className="mb-2 text-base font-semibold">Versions</h2>
              <ol className="space-y-2">
                {one.versions.map((version) => (
                  <VersionCard key={version.version} version={version} />
                ))}
              </ol>
            </section>
          </div>
        </>
      )}
    </Page>
  );
}

function VersionCard({ version }: { version: Version }) {
  const changes = version.changes;
  return (
    <li className="rounded-lg border bg-surface p-3 text-sm">
      <div className="mb-1 flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="font-medium">Version {version.version}</span>
        <Time at={version.fetchedAt} className="text-ink-3" />
        <span className="text-ink-3">{bytes(version.size)}</span>
        <Link
          to="/jobs/$jobId"
          params={{ jobId: version.runId }}
          search={{ row: version.rowNo }}
          className="plain-link"
        >
          row {version.rowNo} of its run
        </Link>
        <Button asChild size="sm" look="quiet" className="ml-auto">
          <a href={version.rawUrl} download>
            <Download aria-hidden /> Raw page
          </a>
        </Button>
      </div>
      {changes && changes.length > 0 && <Changes changes={changes as never} />}
      {changes && changes.length === 0 && <p className="text-ink-2">Only the text changed.</p>}
      {!changes && (
        <p className="text-ink-2">{version.extractedAt ? "The first version." : "It was not extracted."}</p>
      )}
    </li>
  );
}
