import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Power, Send, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { Drawer } from "../../components/drawer";
import { ErrorNote } from "../../components/error-note";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Facts, Json } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import type { Tone } from "../../lib/states";

interface Props {
  id: string;
  canWrite: boolean;
  onClose: () => void;
  onSecret: (secret: string) => void;
}

/** One endpoint: switch it, rotate its secret, and see what was sent. */
export function EndpointDrawer({ id, canWrite, onClose, onSecret }: Props) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const [asking, setAsking] = useState<"rotate" | "delete" | null>(null);
  const params = { path: { webhook_id: id } };
  const hook = useQuery({
    queryKey: ["webhooks", "one", id],
    queryFn: ({ signal }) => ok(client.GET("/api/webhooks/{webhook_id}", { params, signal })),
  });
  const again = () => void queries.invalidateQueries({ queryKey: ["webhooks"] });
  const run = async (act: () => Promise<unknown>, said: string) => {
    setError(null);
    try {
      await act();
      toast.success(said);
      again();
    } catch (problem) {
      setError(problem);
    }
  };
  const one = hook.data;
  return (
    <Drawer open onOpenChange={onClose} title={one?.url ?? "Endpoint"}>
      {hook.error && <ErrorNote error={hook.error} onRetry={() => void hook.refetch()} />}
      {!one ? (
        hook.isPending && <RowsSkeleton />
      ) : (
        <div className="space-y-5">
          {canWrite && (
            <div className="flex flex-wrap gap-2">
              <Button
                size="sm"
                onClick={() =>
                  void run(
                    () => ok(client.POST("/api/webhooks/{webhook_id}/test", { params })),
                    "Test message sent",
                  )
                }
              >
                <Send aria-hidden /> Send a test
              </Button>
              <Button
                size="sm"
                onClick={() =>
                  void run(
                    () =>
                      ok(
                        client.PATCH("/api/webhooks/{webhook_id}", {
                          params,
                          body: { enabled: !one.enabled },
                        }),
                      ),
                    one.enabled ? "Disabled" : "Enabled",
                  )
                }
              >
                <Power aria-hidden /> {one.enabled ? "Disable" : "Enable"}
              </Button>
              <Button size="sm" onClick={() => setAsking("rotate")}>
                <KeyRound aria-hidden /> Rotate the secret
              </Button>
              <Button size="sm" look="quiet" onClick={() => setAsking("delete")}>
                <Trash2 aria-hidden /> Delete
              </Button>
            </div>
          )}
          {error !== null && <ErrorNote error={error} />}
          <Facts
            facts={[
              [
                "State",
                <Badge key="state" tone={one.enabled ? "done" : "skipped"}>
                  {one.enabled ? "on" : "off"}
                </Badge>,
              ],
              ["Disabled because", one.disabledReason],
              ["Description", one.description],
              ["Events", one.events.join(", ")],
              ["Old secret works until", one.oldSecretUntil && <Time at={one.oldSecretUntil} />],
            ]}
          />
          <Deliveries id={id} canWrite={canWrite} />
        </div>
      )}
      <Confirm
        open={asking === "rotate"}
        onOpenChange={() => setAsking(null)}
        title="Rotate the secret?"
        action="Create a new secret"
        onConfirm={async () => {
          const made = await ok(client.POST("/api/webhooks/{webhook_id}/rotate", { params, body: {} }));
          onSecret(made.secret);
          again();
        }}
      >
        <p>Messages are signed with both secrets for a while, so that you can switch without a gap.</p>
      </Confirm>
      <Confirm
        open={asking === "delete"}
        onOpenChange={() => setAsking(null)}
        title="Delete this endpoint?"
        action="Delete"
        danger
        onConfirm={async () => {
          await ok(client.DELETE("/api/webhooks/{webhook_id}", { params }));
          again();
          onClose();
        }}
      >
        <p>No more messages are sent to it. Pending deliveries are cancelled.</p>
      </Confirm>
    </Drawer>
  );
}

const TONES: Record<string, Tone> = {
  delivered: "done",
  failed: "error",
  pending: "pending",
  cancelled: "skipped",
};

function Deliveries({ id, canWrite }: { id: string; canWrite: boolean }) {
  const [open, setOpen] = useState<string | null>(null);
  const log = useInfiniteQuery({
    queryKey: ["webhooks", "deliveries", id],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/webhooks/{webhook_id}/deliveries", {
          params: { path: { webhook_id: id }, query: { after: pageParam, pageSize: 20 } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    refetchInterval: 5000,
  });
  const rows = log.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section>
      <h3 className="mb-2 text-sm font-semibold">Deliveries</h3>
      {log.error && <ErrorNote error={log.error} onRetry={() => void log.refetch()} />}
      {rows.length === 0 && !log.isPending && (
        <p className="text-sm text-ink-2">No deliveries yet. Send a test to check the address.</p>
      )}
      <ul className="divide-y rounded-md border empty:hidden">
        {rows.map((one) => (
          <li key={one.id} className="text-sm">
            <button
              type="button"
              aria-expanded={open === one.id}
              className="flex w-full flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-left hover:bg-hover"
              onClick={() => setOpen(open === one.id ? null : one.id)}
            >
              <Badge tone={TONES[one.state] ?? "processing"}>{one.state}</Badge>
              <span className="font-medium">{one.event}</span>
              <span className="text-xs text-ink-2">
                {one.status !== null && `${one.status} · `}
                {one.tries === 1 ? "1 try" : `${one.tries} tries`} · <Time at={one.createdAt} />
              </span>
            </button>
            {open === one.id && <Delivery id={one.id} canWrite={canWrite} />}
          </li>
        ))}
      </ul>
      {log.hasNextPage && (
        <Button
          size="sm"
          className="mt-2"
          busy={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
        >
          Load older
        </Button>
      )}
    </section>
  );
}

function Delivery({ id, canWrite }: { id: string; canWrite: boolean }) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const params = { path: { delivery_id: id } };
  const delivery = useQuery({
    queryKey: ["webhooks", "delivery", id],
    queryFn: ({ signal }) => ok(client.GET("/api/webhooks/deliveries/{delivery_id}", { params, signal })),
  });
  const again = async () => {
    setError(null);
    try {
      await ok(client.POST("/api/webhooks/deliveries/{delivery_id}/redeliver", { params }));
      toast.success("Sent again");
      void queries.invalidateQueries({ queryKey: ["webhooks"] });
    } catch (problem) {
      setError(problem);
    }
  };
  const one = delivery.data;
  return (
    <div className="space-y-2 px-3 pb-3">
      {(delivery.error ?? error) !== null && <ErrorNote error={delivery.error ?? error} />}
      {one && (
        <>
          <Json value={{ attempts: one.attempts, payload: one.payload }} label="Request and response" />
          {canWrite && (
            <Button size="sm" onClick={() => void again()}>
              <Send aria-hidden /> Send again
            </Button>
          )}
        </>
      )}
    </div>
  );
}
