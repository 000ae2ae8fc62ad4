import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Rss } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { EmptyState } from "../../components/empty";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { ManagedList, RowActions } from "../../components/managed-list";
import { Secret } from "../../components/secret";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { type Feed, feedsQuery } from "../../lib/schedules";
import { useCanWrite } from "../../lib/session";

/** Products for Google Merchant Center by a secret address. */
export default function Feeds() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const feeds = useQuery(feedsQuery);
  const [adding, setAdding] = useState(false);
  const [paths, setPaths] = useState<Record<string, string> | null>(null);
  const [asking, setAsking] = useState<{ feed: Feed; what: "rotate" | "delete" } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const rows = feeds.data ?? [];
  const again = () => void queries.invalidateQueries({ queryKey: ["feeds"] });
  const add = async (form: FormData) => {
    const text = (name: string) => String(form.get(name) ?? "").trim();
    const given = { source: text("source"), link: text("link"), availability: text("availability") };
    const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
    const made = await ok(client.POST("/api/feeds", { body: { name: text("name"), settings } }));
    setAdding(false);
    setPaths(made.paths);
    again();
  };
  const check = async (feed: Feed) => {
    setError(null);
    try {
      await ok(client.POST("/api/feeds/{feed_id}/build", { params: { path: { feed_id: feed.id } } }));
      toast.success("The feed is built");
      again();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <ManagedList
        label="Feeds"
        intro="Published products for Google Merchant Center, as RSS and CSV. The address is secret and shown once."
        actions={
          canWrite && (
            <Button look="primary" onClick={() => setAdding(true)}>
              <Plus aria-hidden /> New feed
            </Button>
          )
        }
        error={error}
        query={feeds}
        rows={rows.length}
        empty={
          <EmptyState icon={Rss} title="No feeds yet">
            A feed is fetched by its address, without a key.
          </EmptyState>
        }
        head={[
          { label: "Name" },
          { label: "Products" },
          { label: "Last fetch", className: "hidden sm:table-cell" },
        ]}
      >
        {rows.map((one) => (
          <tr key={one.id}>
            <td className="font-medium">{one.name}</td>
            <td>
              <Included feed={one} />
            </td>
            <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
              {one.readAt ? <Time at={one.readAt} /> : "never"}
            </td>
            <RowActions>
              {one.mayChange && (
                <>
                  <Button size="sm" onClick={() => void check(one)} aria-label={`Check ${one.name}`}>
                    Check
                  </Button>
                  <Button
                    size="sm"
                    onClick={() => setAsking({ feed: one, what: "rotate" })}
                    aria-label={`New address of ${one.name}`}
                  >
                    New address
                  </Button>
                  <Button
                    size="sm"
                    onClick={() => setAsking({ feed: one, what: "delete" })}
                    aria-label={`Delete ${one.name}`}
                  >
                    Delete
                  </Button>
                </>
              )}
            </RowActions>
          </tr>
        ))}
      </ManagedList>
      {adding && (
        <FormDialog title="New feed" action="Create" onClose={() => setAdding(false)} onSave={add}>
          <Field label="Name">{(ids) => <Input {...ids} name="name" required maxLength={100} />}</Field>
          <Field label="Source (optional)" hint="Only products of this source.">
            {(ids) => <Input {...ids} name="source" maxLength={200} />}
          </Field>
          <Field
            label="Address of products (optional)"
            hint="Such as https://shop.example/p/{sku}, for products without one."
          >
            {(ids) => <Input {...ids} name="link" maxLength={500} spellCheck={false} />}
          </Field>
          <Field label="Availability, if a product has none">
            {(ids) => (
              <Select {...ids} name="availability" defaultValue="">
                <option value="">leave them out</option>
                <option value="in_stock">in stock</option>
                <option value="out_of_stock">out of stock</option>
              </Select>
            )}
          </Field>
        </FormDialog>
      )}
      {paths && (
        <Secret
          title="Addresses of the feed"
          value={Object.values(paths)
            .map((path) => window.location.origin + path)
            .join("\n")}
          note="Store them safely: they are shown only once."
          onClose={() => setPaths(null)}
        />
      )}
      <Confirm
        open={asking !== null}
        onOpenChange={() => setAsking(null)}
        title={
          asking?.what === "delete"
            ? `Delete ${asking.feed.name}?`
            : `Create a new address for ${asking?.feed.name}?`
        }
        action={asking?.what === "delete" ? "Delete" : "Create a new address"}
        danger
        onConfirm={async () => {
          if (!asking) return;
          const path = { params: { path: { feed_id: asking.feed.id } } };
          if (asking.what === "delete") await ok(client.DELETE("/api/feeds/{feed_id}", path));
          else setPaths((await ok(client.POST("/api/feeds/{feed_id}/rotate", path))).paths);
          again();
        }}
      >
        <p>The old address stops working at once.</p>
      </Confirm>
    </>
  );
}

function Included({ feed }: { feed: Feed }) {
  const file = feed.files[0];
  if (!file) return <span className="text-ink-3">not built yet</span>;
  const reasons = Object.entries(file.leftOut.reasons);
  const leftOut = reasons.reduce((sum, [, number]) => sum + number, 0);
  return (
    <>
      {count(file.included)}
      {leftOut > 0 && (
        <span className="block text-xs text-ink-3">
          {count(leftOut)} left out: {reasons.map(([reason, number]) => `${reason} ${number}`).join(", ")}
        </span>
      )}
    </>
  );
}
