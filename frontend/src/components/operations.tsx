import { useQuery } from "@tanstack/react-query";
import { LoaderCircle, Square } from "lucide-react";
import { client, ok } from "../lib/api";
import { count } from "../lib/format";
import { useCanWrite } from "../lib/session";
import { Menu, MenuItem, MenuLabel } from "./menu";
import { toast } from "./toast";

const RUNS = ["counting", "running"];

/** Bulk operations of all users and pages that run in the background; hidden once all are done. */
export function Operations() {
  const canWrite = useCanWrite();
  const list = useQuery({
    queryKey: ["operations"],
    queryFn: ({ signal }) => ok(client.GET("/api/bulk", { params: { query: { pageSize: 20 } }, signal })),
    refetchInterval: (query) =>
      query.state.data?.items.some((one) => RUNS.includes(one.state)) ? 1000 : 30_000,
    enabled: canWrite,
  });
  const running = list.data?.items.filter((one) => RUNS.includes(one.state)) ?? [];
  const first = running[0];
  if (!first) return null;
  const stop = async (id: string) => {
    try {
      await ok(client.POST("/api/bulk/{operation_id}/abort", { params: { path: { operation_id: id } } }));
      toast.success("Stopped. Changes made so far are kept.");
    } catch (problem) {
      toast.error(problem instanceof Error ? problem.message : String(problem));
    }
    void list.refetch();
  };
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="inline-flex h-6 items-center gap-1.5 rounded-full border border-processing/30 bg-processing-bg px-2 text-xs text-processing"
        >
          <LoaderCircle className="size-3 animate-spin" aria-hidden />
          {first.action} {Math.round(first.percent)} %{running.length > 1 && ` (+${running.length - 1})`}
        </button>
      }
    >
      {running.map((one) => (
        <div key={one.id} className="px-1">
          <MenuLabel>
            <span className="block text-sm font-medium text-ink">
              {one.action}: {Math.round(one.percent)} %
            </span>
            {one.items > 0
              ? `${count(one.items)} rows`
              : `${count(one.changed)} of ${count(one.matched)} jobs`}
          </MenuLabel>
          {one.action !== "edit" && (
            <MenuItem icon={Square} onSelect={() => void stop(one.id)}>
              Stop
            </MenuItem>
          )}
        </div>
      ))}
    </Menu>
  );
}
