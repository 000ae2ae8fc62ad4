import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { ManagedList, RowActions, useDeletion } from "../../components/managed-list";
import { Secret } from "../../components/secret";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";

type Key = Schemas["KeyShape"];
const REACH = { read: ["read"], write: ["read", "write"], admin: ["read", "write", "admin"] } as const;

/** For programs: what they may do, until when, and when they were last seen. */
export default function Keys() {
  const queries = useQueryClient();
  const [adding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const keys = useInfiniteQuery({
    queryKey: ["keys"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/keys", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = keys.data?.pages.flatMap((page) => page.items) ?? [];
  const again = () => void queries.invalidateQueries({ queryKey: ["keys"] });
  const add = async (form: FormData) => {
    const days = Number(form.get("days"));
    const reach = String(form.get("reach")) as keyof typeof REACH;
    const made = await ok(
      client.POST("/api/keys", {
        body: {
          name: String(form.get("name") ?? ""),
          scopes: [...REACH[reach]],
          ...(days > 0 ? { expiresAt: new Date(Date.now() + days * 86_400_000).toISOString() } : {}),
        },
      }),
    );
    setAdding(false);
    setSecret(made.key);
    again();
  };
  const deletion = useDeletion<Key>({
    title: (key) => `Revoke ${key.name || "this key"}?`,
    note: "Programs that use it lose access at once. This cannot be undone.",
    action: "Revoke",
    queryKey: ["keys"],
    onDelete: (key) =>
      ok(client.DELETE("/api/keys/{key_id}", { params: { path: { key_id: String(key.id) } } })),
  });
  return (
    <>
      <ManagedList
        label="API keys"
        intro="A key acts in your name. It is shown once; only its hash is kept."
        actions={
          <Button look="primary" onClick={() => setAdding(true)}>
            <Plus aria-hidden /> New key
          </Button>
        }
        query={keys}
        rows={rows.length}
        empty={
          <EmptyState icon={KeyRound} title="No keys yet">
            Programs send a key with each request, as{" "}
            <code className="font-mono">Authorization: Bearer …</code>
          </EmptyState>
        }
        head={[
          { label: "Name" },
          { label: "Access" },
          { label: "User", className: "hidden md:table-cell" },
          { label: "Last used", className: "hidden sm:table-cell" },
          { label: "Expires", className: "hidden md:table-cell" },
        ]}
      >
        {rows.map((one) => (
          <tr key={one.id}>
            <td>
              <span className="font-medium">{one.name || "without a name"}</span>
              <span className="block font-mono text-xs text-ink-3">{one.prefix}…</span>
            </td>
            <td className="whitespace-nowrap">{one.scopes.join(", ")}</td>
            <td className="hidden text-ink-2 md:table-cell">{one.email}</td>
            <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
              {one.lastUsedAt ? <Time at={one.lastUsedAt} /> : "never"}
            </td>
            <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
              {one.expiresAt ? <Time at={one.expiresAt} /> : "never"}
            </td>
            <RowActions>
              {one.revokedAt ? (
                <Badge>revoked</Badge>
              ) : (
                <Button size="sm" onClick={() => deletion.ask(one)}>
                  Revoke
                </Button>
              )}
            </RowActions>
          </tr>
        ))}
      </ManagedList>
      {adding && (
        <FormDialog title="New API key" action="Create" onClose={() => setAdding(false)} onSave={add}>
          <Field label="Name" hint="What the key is used for.">
            {(ids) => <Input {...ids} name="name" required maxLength={100} />}
          </Field>
          <Field label="Access" hint="Never more than your own rights.">
            {(ids) => (
              <Select {...ids} name="reach" defaultValue="write">
                <option value="read">read only</option>
                <option value="write">read and write</option>
                <option value="admin">everything an admin can do</option>
              </Select>
            )}
          </Field>
          <Field label="Expires">
            {(ids) => (
              <Select {...ids} name="days" defaultValue="90">
                <option value="30">in 30 days</option>
                <option value="90">in 90 days</option>
                <option value="365">in a year</option>
                <option value="0">never</option>
              </Select>
            )}
          </Field>
        </FormDialog>
      )}
      {secret && (
        <Secret
          title="Your new key"
          value={secret}
          note="Store it safely: it is shown only once."
          onClose={() => setSecret(null)}
        />
      )}
      {deletion.dialog}
    </>
  );
}
