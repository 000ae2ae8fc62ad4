import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FlaskConical, Plus, Store } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useCanWrite } from "../../lib/session";
import { connectionsQuery, kindsQuery } from "../../lib/shops";
import { ConnectionCard } from "./card";
import { NewConnection } from "./new-connection";

/** Shops that products are imported from. */
export default function Connections() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const kinds = useQuery(kindsQuery);
  const connections = useQuery(connectionsQuery);
  const [adding, setAdding] = useState(false);
  const [connecting, setConnecting] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const rows = connections.data ?? [];
  const again = () => queries.invalidateQueries({ queryKey: ["connections", "list"] });
  const connectDemo = async () => {
    setConnecting(true);
    setError(null);
    try {
      const made = await ok(client.POST("/api/connections/demo", { body: {} }));
      await Promise.all(
        made.items.map((one) =>
          ok(
            client.POST("/api/connections/{connection_id}/test", {
              params: { path: { connection_id: one.id } },
            }),
          ),
        ),
      );
      toast.success(`${made.items.length} demo shops are connected`);
    } catch (problem) {
      setError(problem);
    } finally {
      setConnecting(false);
      void again();
    }
  };
  const demo = canWrite && kinds.data?.demo && (
    <Button busy={connecting} onClick={() => void connectDemo()}>
      {!connecting && <FlaskConical aria-hidden />} Connect the sandbox
    </Button>
  );
  const add = canWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden /> New connection
    </Button>
  );
  return (
    <Page
      title="Connections"
      lead="Shops whose products you import. Credentials are stored encrypted and never shown."
      actions={
        rows.length > 0 && (
          <>
            {demo}
            {add}
          </>
        )
      }
    >
      {error !== null && <ErrorNote error={error} className="mb-4" />}
      {connections.error && (
        <ErrorNote error={connections.error} onRetry={() => void connections.refetch()} className="mb-4" />
      )}
      {connections.isPending && <RowsSkeleton rows={4} />}
      {connections.data && rows.length === 0 && (
        <EmptyState
          icon={Store}
          title="No shops yet"
          action={
            <>
              {add}
              {demo}
            </>
          }
        >
          Connect a Shopify, WooCommerce or Roastify shop, choose products, and have them in the catalog with
          their pictures.
        </EmptyState>
      )}
      <ul
        className="grid grid-cols-1 gap-4 empty:hidden md:grid-cols-2 xl:grid-cols-3"
        aria-label="Connections"
      >
        {rows.map((one) => (
          <li key={one.id} className="min-w-0">
            <ConnectionCard
              connection={one}
              kind={kinds.data?.items.find((kind) => kind.key === one.provider)}
              canWrite={canWrite}
            />
          </li>
        ))}
      </ul>
      {adding && kinds.data && (
        <NewConnection
          kinds={kinds.data.items}
          onClose={() => setAdding(false)}
          onMade={() => {
            setAdding(false);
            void again();
          }}
        />
      )}
    </Page>
  );
}
