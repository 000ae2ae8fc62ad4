import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FolderSync, Plus, RefreshCw } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { useCanWrite } from "../../lib/session";
import { watchersQuery } from "../../lib/watchers";
import { WatcherCard } from "./card";
import { FilesDrawer } from "./files";
import { WatcherForm } from "./watcher-form";

/** Places that are scanned for new files. */
export default function Watchers() {
  const search = useSearch({ from: "/inside/watchers" });
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const watchers = useQuery(watchersQuery);
  const [adding, setAdding] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const rows = watchers.data ?? [];
  const again = () => queries.invalidateQueries({ queryKey: ["watchers"] });
  const show = (id?: string) =>
    void navigate({ to: "/watchers", search: id ? { watcher: id } : {}, replace: true });
  const scan = async () => {
    setBusy(true);
    setError(null);
    try {
      const found = await ok(client.POST("/api/ingestion/scan", { body: {} }));
      toast.success(`${count(found.found)} files found, ${count(found.submitted)} submitted`);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
      void again();
    }
  };
  const add = canWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden /> New watcher
    </Button>
  );
  const shown = rows.find((one) => one.id === search.watcher);
  return (
    <Page
      title="Watchers"
      lead="Folders, buckets and servers that are scanned for new files. Each complete file becomes a job."
      actions={
        rows.length > 0 && (
          <>
            {canWrite && (
              <Button busy={busy} onClick={() => void scan()}>
                {!busy && <RefreshCw aria-hidden />} Scan all now
              </Button>
            )}
            {add}
          </>
        )
      }
    >
      {watchers.error && (
        <ErrorNote error={watchers.error} onRetry={() => void watchers.refetch()} className="mb-4" />
      )}
      {error !== null && <ErrorNote error={error} className="mb-4" />}
      {watchers.isPending && <RowsSkeleton rows={4} />}
      {watchers.data && rows.length === 0 && (
        <EmptyState icon={FolderSync} title="No watchers yet" action={add}>
          Let Penstock fetch files by itself: name a place, which files to take, and the profile to read them
          with.
        </EmptyState>
      )}
      <ul className="grid grid-cols-1 gap-4 empty:hidden md:grid-cols-2 xl:grid-cols-3" aria-label="Watchers">
        {rows.map((one) => (
          <li key={one.id} className="min-w-0">
            <WatcherCard watcher={one} canWrite={canWrite} onFiles={() => show(one.id)} />
          </li>
        ))}
      </ul>
      {shown && <FilesDrawer watcher={shown} canWrite={canWrite} onClose={() => show()} />}
      {adding && (
        <WatcherForm
          onClose={() => setAdding(false)}
          onSaved={() => {
            setAdding(false);
            void again();
          }}
        />
      )}
    </Page>
  );
}
