import { Link, useNavigate } from "@tanstack/react-router";
import { Download, KeyRound, Pencil, PlugZap, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Checkbox, Field, Input } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { MenuItem, MenuLine } from "../../components/menu";
import { Card } from "../../components/page";
import { CardHeader, Fact, Facts, LastError, MoreMenu, useCardActions } from "../../components/service-card";
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
  const navigate = useNavigate();
  const { busy, error, run, again } = useCardActions<"test" | "sync">(["connections", "list"]);
  const [asking, setAsking] = useState<"rename" | "rotate" | "delete" | null>(null);
  const params = { path: { connection_id: connection.id } };
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
      <CardHeader
        title={connection.name}
        address={connection.address}
        subtitle={
          <>
            {kind?.title ?? connection.provider} · {connection.address.replace(/^https?:\/\//, "")}
          </>
        }
      >
        <Badge tone={look.tone}>
          <look.icon className="size-3" aria-hidden /> {look.word}
        </Badge>
      </CardHeader>
      <Facts>
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
      </Facts>
      <LastError error={connection.error} />
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
            <MoreMenu name={connection.name}>
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
            </MoreMenu>
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
          description="Enter all of them. They are tested first: if the shop refuses them, the old ones are kept. Running imports use them from the next call."
          action="Replace and test"
          onClose={() => setAsking(null)}
          onSave={async (form) => {
            const body = { credentials: credentialsOf(kind, form), test: form.get("untested") === null };
            await ok(client.POST("/api/connections/{connection_id}/rotate", { params, body }));
            setAsking(null);
            toast.success(
              body.test ? `${connection.name} accepts the new credentials` : "Stored without a test",
            );
            void again();
          }}
        >
          <CredentialInputs kind={kind} />
          <label className="flex items-center gap-2 text-sm">
            <Checkbox name="untested" /> Store them without a test, for a shop that cannot be reached now
          </label>
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
