import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Files, RotateCcw } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Drawer } from "../../components/drawer";
import { EmptyState } from "../../components/empty";
import { Field, Select } from "../../components/field";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { FILE_TONES, type WatchedFile, type Watcher } from "../../lib/watchers";

interface Props {
  watcher: Watcher;
  canWrite: boolean;
  onClose: () => void;
}

/** Files that a watcher has seen, with their jobs and errors. */
export function FilesDrawer({ watcher, canWrite, onClose }: Props) {
  const queries = useQueryClient();
  const [state, setState] = useState<WatchedFile["state"] | "">("");
  const files = useInfiniteQuery({
    queryKey: ["watchers", "files", watcher.id, state],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/watchers/{watcher_id}/files", {
          params: {
            path: { watcher_id: watcher.id },
            query: { after: pageParam, ...(state ? { state } : {}) },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = files.data?.pages.flatMap((page) => page.items) ?? [];
  const retry = async (file: WatchedFile) => {
    const path = { watcher_id: watcher.id, watched_id: file.id };
    await ok(client.POST("/api/watchers/{watcher_id}/files/{watched_id}/retry", { params: { path } }));
    toast.success("The next scan tries it again");
    void queries.invalidateQueries({ queryKey: ["watchers"] });
  };
  return (
    <Drawer open onOpenChange={onClose} title={`Files of ${watcher.name}`}>
      <Field label="State" className="mb-3 max-w-48">
        {(ids) => (
          <Select {...ids} value={state} onChange={(event) => setState(event.target.value as typeof state)}>
            <option value="">All</option>
            {Object.entries(FILE_TONES).map(([value, look]) => (
              <option key={value} value={value}>
                {look.word}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <List
        query={files}
        rows={rows.length}
        empty={
          <EmptyState icon={Files} title="No files">
            Files appear here with the first scan that sees them.
          </EmptyState>
        }
      >
        <Table
          label="Files"
          head={[
            { label: "File" },
            { label: "State" },
            { label: "Seen", className: "hidden sm:table-cell" },
            { label: "Job" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id}>
              <td className="w-1/2 max-w-0">
                <span className="block truncate" title={one.name}>
                  {one.name}
                </span>
                {one.error && (
                  <span className="block text-xs break-words text-error">
                    {one.error.message} <span className="font-mono">{one.error.code}</span>
                  </span>
                )}
              </td>
              <td>
                <Badge tone={FILE_TONES[one.state].tone}>{FILE_TONES[one.state].word}</Badge>
              </td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.firstSeenAt} />
              </td>
              <td>
                {one.jobId && (
                  <Link
                    to="/jobs/$jobId"
                    params={{ jobId: one.jobId }}
                    className="text-accent underline-offset-2 hover:underline"
                  >
                    Open
                  </Link>
                )}
                {one.state === "failed" && canWrite && (
                  <Button size="sm" onClick={() => void retry(one)} aria-label={`Retry ${one.name}`}>
                    <RotateCcw aria-hidden /> Retry
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </List>
    </Drawer>
  );
}
