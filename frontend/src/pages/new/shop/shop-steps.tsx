import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Store } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../components/button";
import { EmptyState } from "../../../components/empty";
import { ErrorNote } from "../../../components/error-note";
import { Field, Select } from "../../../components/field";
import { Page } from "../../../components/page";
import { RowsSkeleton } from "../../../components/skeleton";
import { connectionsQuery, kindsQuery, type Selection } from "../../../lib/shops";
import { SourceChoice } from "../source-choice";
import { ImportCard } from "./import-card";
import { ProductPicker } from "./picker";

/** Choose a shop and products of it, and start the import. */
export function ShopSteps() {
  const { shop } = useSearch({ from: "/inside/new" });
  const navigate = useNavigate();
  const connections = useQuery(connectionsQuery);
  const kinds = useQuery(kindsQuery);
  const titles = new Map(kinds.data?.items.map((one) => [one.key, one.title]));
  const rows = connections.data ?? [];
  const chosen = rows.find((one) => one.id === shop) ?? rows[0];
  return (
    <Page title="New job" lead="Import products of a connected shop with their pictures.">
      <SourceChoice value="shop" />
      {connections.error && (
        <ErrorNote error={connections.error} onRetry={() => void connections.refetch()} />
      )}
      {connections.isPending && <RowsSkeleton rows={4} />}
      {connections.data && !chosen && (
        <EmptyState
          icon={Store}
          title="No shop is connected yet"
          action={
            <Button asChild look="primary">
              <Link to="/connections">Connect a shop</Link>
            </Button>
          }
        >
          A connection holds the address and the credentials of a shop. Then you choose products here.
        </EmptyState>
      )}
      {chosen && (
        <>
          <Field label="Shop" className="mb-4 max-w-md">
            {(ids) => (
              <Select
                {...ids}
                value={chosen.id}
                onChange={(event) =>
                  void navigate({
                    to: "/new",
                    search: { source: "shop", shop: event.target.value },
                    replace: true,
                  })
                }
              >
                {rows.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.name} ({titles.get(one.provider) ?? one.provider})
                  </option>
                ))}
              </Select>
            )}
          </Field>
          {/* Another shop begins with nothing chosen. */}
          <Chosen key={chosen.id} connectionId={chosen.id} />
        </>
      )}
    </Page>
  );
}

function Chosen({ connectionId }: { connectionId: string }) {
  const [selection, setSelection] = useState<Selection>({ all: true });
  return (
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[2fr_1fr]">
      <ProductPicker connectionId={connectionId} selection={selection} onSelect={setSelection} />
      <ImportCard connectionId={connectionId} selection={selection} />
    </div>
  );
}
