import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { MonitorSmartphone } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { EmptyState } from "../../components/empty";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { agentName } from "../../lib/agents";
import { client, ok, type Schemas } from "../../lib/api";

type Open = Schemas["OpenSession"];

/** Where you are signed in, and a way to end what you do not know. */
export function Sessions() {
  const queries = useQueryClient();
  const [ending, setEnding] = useState<Open | "others" | null>(null);
  const open = useInfiniteQuery({
    queryKey: ["sessions"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/sessions", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = open.data?.pages.flatMap((page) => page.items) ?? [];
  const end = async () => {
    if (ending === "others") await ok(client.DELETE("/api/sessions"));
    else if (ending)
      await ok(client.DELETE("/api/sessions/{session_id}", { params: { path: { session_id: ending.id } } }));
    toast.success(ending === "others" ? "Your other sessions are signed out" : "That session is signed out");
    void queries.invalidateQueries({ queryKey: ["sessions"] });
  };
  return (
    <section className="max-w-4xl">
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <h2 className="flex-1 text-base font-semibold">Where you are signed in</h2>
        {rows.length > 1 && <Button onClick={() => setEnding("others")}>Sign out all others</Button>}
      </div>
      <List
        query={open}
        rows={rows.length}
        empty={
          <EmptyState icon={MonitorSmartphone} title="No session is open">
            You are signed in with a key.
          </EmptyState>
        }
      >
        <Table
          label="Sessions"
          head={[
            { label: "Browser" },
            { label: "Address", className: "hidden sm:table-cell" },
            { label: "Last used" },
            { label: "Signed in", className: "hidden md:table-cell" },
            { label: <span className="sr-only">Actions</span> },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id}>
              <td title={one.agent}>
                <span className="font-medium">{agentName(one.agent)}</span>
                <span className="block font-mono text-xs text-ink-3 sm:hidden">{one.ip}</span>
              </td>
              <td className="hidden font-mono text-xs text-ink-2 sm:table-cell">{one.ip ?? "unknown"}</td>
              <td className="whitespace-nowrap text-ink-2">
                <Time at={one.seenAt} />
              </td>
              <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
                <Time at={one.createdAt} />
              </td>
              <td className="text-right">
                {one.current ? (
                  <Badge tone="done">This session</Badge>
                ) : (
                  <Button size="sm" onClick={() => setEnding(one)}>
                    Sign out
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </List>
      <Confirm
        open={ending !== null}
        onOpenChange={() => setEnding(null)}
        title={ending === "others" ? "Sign out everywhere else?" : "Sign out that session?"}
        action="Sign out"
        danger
        onConfirm={end}
      >
        <p>
          {ending !== null && ending !== "others"
            ? `${agentName(ending.agent)}${ending.ip ? ` at ${ending.ip}` : ""} has to sign in again.`
            : "All other sessions have to sign in again. API keys keep working."}
        </p>
      </Confirm>
    </section>
  );
}
