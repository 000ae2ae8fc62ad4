import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Download, KeyRound, MoreHorizontal, Pencil, PlugZap, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { Menu, MenuItem, MenuLine } from "../../components/menu";
import { Card } from "../../components/page";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { randomId } from "../../lib/random";
import { CONNECTION_LOOKS, type Connection, type ProviderKind, productCount } from "../../lib/shops";
import { CredentialInputs, credentialsOf } from "./credentials";

interface Props {
  connection: Connection;
  kind: ProviderKind | undefined;
  canWrite: boolean;
}

/** One shop: whether it answers, when it was imported last, and what can be done with it. */
export function ConnectionCard({ connection, kind, canWrite }: Props) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [busy, setBusy] = useState<"test" | "sync" | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [asking, setAsking] = useState<"rename" | "rotate" | "delete" | null>(null);
  const params = { path: { connection_id: connection.id } };
  const again = () => queries.invalidateQueries({ queryKey: ["connections", "list"] });
  const run = async (what: "test" | "sync", act: () => Promise<unknown>) => {
    setBusy(what);
    setError(null);
    try {
      await act();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(null);
      void again();
    }
  };
  const test = () =>
    run("test", async () => {
      const result = await ok(client.POST("/api/connections/{connection_id}/test", { params }));
      if (result.ok) toast.success(`${connection.name} answers`);
    });
  const sync = () =>
    run("sync", async () => {
      const made = await ok(
        client.POST("/api/products/import", {
          headers: { "Idempotency-Key": `ui-${randomId()}` },
          body: { connectionId: connection.id, since: "last" },
        }),
      );
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId } });
    });
  const look = CONNECTION_LOOKS[connection.status];
  const products = productCount(connection);
  return (
    <Card className="flex h-full flex-col gap-3 p-4">
      <header className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <h2 className="truncate text-base font-semibold" title={connection.name}>
            {connection.name}
          </h2>
          <p className="truncate text-sm text-ink-2" title={connection.address}>
            {kind?.title ?? connection.provider} · {connection.address.replace(/^https?:\/\//, "")}
          </p>
        </div>
        <Badge tone={look.tone}>
          <look.icon className="size-3" aria-hidden /> {look.word}
        </Badge>
      </header>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-1 text-sm">
        <Fact name="Products">{products === null ? "–" : count(products)}</Fact>
        <Fact name="Currency">{String(connection.details.currency ?? "–")}</Fact>
        <Fact name="Last test">
          <Time at={connection.testedAt} />
        </Fact>
        <Fact name="Last import">
          {connection.lastJobId ? (
            <Link
              to="/jobs/$jobId"
              params={{ jobId: connection.lastJobId }}
              className="text-accent underline-offset-2 hover:underline"
            >
              <Time at={connection.syncedAt ?? connection.updatedAt} />
            </Link>
          ) : (
            "never"
          )}
        </Fact>
      </dl>
      {connection.error && (
        <p
          role="status"
          className="rounded-md border border-error/30 bg-error-bg px-3 py-2 text-sm text-error"
        >
          {connection.error.message} <span className="font-mono text-xs">{connection.error.code}</span>
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
      {canWrite && (
        <footer className="mt-auto flex flex-wrap items-center gap-2 pt-1">
          <Button asChild size="sm" look="primary">
            <Link to="/new" search={{ source: "shop", shop: connection.id }}>
              <Download aria-hidden /> Import
            </Link>
          </Button>
          <Button
            size="sm"
            busy={busy === "sync"}
            onClick={() => void sync()}
            title={
              kind?.incremental === false
                ? "Imports all products: this shop cannot list changes only."
                : "Imports products changed since the last import."
            }
          >
            {busy !== "sync" && <RefreshCw aria-hidden />} Sync now
          </Button>
          <Button size="sm" busy={busy === "test"} onClick={() => void test()}>
            {busy !== "test" && <PlugZap aria-hidden />} Test
          </Button>
          {connection.mayChange && (
            <Menu
              trigger={
                <Button
                  size="icon-sm"
                  look="quiet"
                  className="ml-auto"
                  aria-label={`More for ${connection.name}`}
                >
                  <MoreHorizontal aria-hidden />
                </Button>
              }
            >
              <MenuItem icon={Pencil} onSelect={() => setAsking("rename")}>
                Rename
              </MenuItem>
              <MenuItem icon={KeyRound} onSelect={() => setAsking("rotate")}>
                Replace credentials
              </MenuItem>
              <MenuLine />
              <MenuItem icon={Trash2} danger onSelect={() => setAsking("delete")}>
                Delete
              </MenuItem>
            </Menu>
          )}
        </footer>
      )}
      {asking === "rename" && (
        <FormDialog
          title="Rename the connection"
          action="Rename"
          onClose={() => setAsking(null)}
          onSave={async (form) => {
            const name = String(form.get("name")).trim();
            await ok(client.PATCH("/api/connections/{connection_id}", { params, body: { name } }));
            setAsking(null);
            void again();
          }}
        >
          <Field label="Name">
            {(ids) => <Input {...ids} name="name" required maxLength={200} defaultValue={connection.name} />}
          </Field>
        </FormDialog>
      )}
      {asking === "rotate" && kind && (
        <FormDialog
          title="Replace the credentials"
          description="Enter all of them. Running imports use them from the next call."
          action="Replace and test"
          onClose={() => setAsking(null)}
          onSave={async (form) => {
            const credentials = credentialsOf(kind, form);
            await ok(
              client.POST("/api/connections/{connection_id}/rotate", { params, body: { credentials } }),
            );
            setAsking(null);
            await test();
          }}
        >
          <CredentialInputs kind={kind} />
          {kind.credentialFields.some((field) => field.name === "webhookSecret") && (
            <p className="text-xs text-ink-3">
              The shop may send changes of products to{" "}
              <code className="font-mono break-all">
                {window.location.origin}
                {connection.webhookPath}
              </code>
            </p>
          )}
        </FormDialog>
      )}
      <Confirm
        open={asking === "delete"}
        onOpenChange={() => setAsking(null)}
        title={`Delete ${connection.name}?`}
        action="Delete"
        danger
        onConfirm={async () => {
          const gone = await ok(client.DELETE("/api/connections/{connection_id}", { params }));
          toast.success(
            gone.productsKept === 1
              ? "Deleted. Its product stays in the catalog"
              : `Deleted. Its ${count(gone.productsKept)} products stay in the catalog`,
          );
          void again();
        }}
      >
        <p>
          The credentials are deleted, and running imports of this shop fail. Products that were imported stay
          in the catalog; a new connection to the same shop finds them again.
        </p>
      </Confirm>
    </Card>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="truncate">{children}</dd>
    </div>
  );
}
