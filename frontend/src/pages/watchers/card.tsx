import { Files, KeyRound, Pause, Pencil, Play, PlugZap, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { FormDialog } from "../../components/form-dialog";
import { MenuItem, MenuLine } from "../../components/menu";
import { Card } from "../../components/page";
import { CardHeader, Fact, Facts, LastError, MoreMenu, useCardActions } from "../../components/service-card";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { intentLabel } from "../../lib/intents";
import { credentialsOf, KINDS, lookOf, THEN, type Watcher } from "../../lib/watchers";
import { CredentialFields, Untested } from "./credentials";
import { WatcherForm } from "./watcher-form";

interface Props {
  watcher: Watcher;
  canWrite: boolean;
  onFiles: () => void;
}

/** One place: whether it can be read, what the last scan found, and what can be done with it. */
export function WatcherCard({ watcher, canWrite, onFiles }: Props) {
  const { busy, error, run, again } = useCardActions<"test" | "scan">(["watchers"]);
  const [asking, setAsking] = useState<"edit" | "rotate" | "delete" | null>(null);
  const params = { path: { watcher_id: watcher.id } };
  const test = () =>
    run("test", async () => {
      const result = await ok(client.POST("/api/watchers/{watcher_id}/test", { params }));
      if (result.error) toast.error(result.error.message);
      else toast.success(`${count(result.listed)} files, ${count(result.matching)} of them match`);
    });
  const scan = () =>
    run("scan", async () => {
      const found = await ok(client.POST("/api/ingestion/scan", { body: { watcherId: watcher.id } }));
      toast.success(`${count(found.found)} files found, ${count(found.submitted)} submitted`);
    });
  const enable = (enabled: boolean) =>
    run(null, () => ok(client.PATCH("/api/watchers/{watcher_id}", { params, body: { enabled } })));
  const look = lookOf(watcher);
  const last = watcher.lastScan;
  return (
    <Card className="flex h-full flex-col gap-3 p-4">
      <CardHeader
        title={watcher.name}
        address={watcher.address}
        subtitle={
          <>
            {KINDS[watcher.kind].title} · {watcher.address}
          </>
        }
      >
        <Badge tone={look.tone}>
          <look.icon className="size-3" aria-hidden /> {look.word}
        </Badge>
      </CardHeader>
      <Facts>
        <Fact name="Files">{watcher.pattern}</Fact>
        <Fact name="Taken files">{THEN[watcher.then]}</Fact>
        <Fact name="Profile">{watcher.job.profile ?? "none"}</Fact>
        <Fact name="Products">{intentLabel(watcher.job.config?.intent)}</Fact>
        <Fact name="Source">{String(watcher.job.config?.source ?? "none")}</Fact>
        <Fact name="Scans">
          {watcher.everySeconds ? `every ${count(watcher.everySeconds)} s` : "on request"}
        </Fact>
        <Fact name="Last scan">
          <Time at={watcher.scannedAt} />
        </Fact>
        <Fact name="Found, submitted">{last ? `${count(last.found)}, ${count(last.submitted)}` : "–"}</Fact>
      </Facts>
      <LastError error={watcher.error} />
      {error !== null && <ErrorNote error={error} />}
      <footer className="mt-auto flex flex-wrap items-center gap-2 pt-1">
        <Button size="sm" onClick={onFiles}>
          <Files aria-hidden /> Files
        </Button>
        {canWrite && (
          <>
            <Button size="sm" busy={busy === "scan"} onClick={() => void scan()}>
              {busy !== "scan" && <RefreshCw aria-hidden />} Scan now
            </Button>
            <Button size="sm" busy={busy === "test"} onClick={() => void test()}>
              {busy !== "test" && <PlugZap aria-hidden />} Test
            </Button>
          </>
        )}
        {canWrite && watcher.mayChange && (
          <MoreMenu name={watcher.name}>
            <MenuItem icon={watcher.enabled ? Pause : Play} onSelect={() => void enable(!watcher.enabled)}>
              {watcher.enabled ? "Pause" : "Resume"}
            </MenuItem>
            <MenuItem icon={Pencil} onSelect={() => setAsking("edit")}>
              Edit
            </MenuItem>
            {KINDS[watcher.kind].fields.length > 0 && (
              <MenuItem icon={KeyRound} onSelect={() => setAsking("rotate")}>
                Replace credentials
              </MenuItem>
            )}
            <MenuLine />
            <MenuItem icon={Trash2} danger onSelect={() => setAsking("delete")}>
              Delete
            </MenuItem>
          </MoreMenu>
        )}
      </footer>
      {asking === "edit" && (
        <WatcherForm
          watcher={watcher}
          onClose={() => setAsking(null)}
          onSaved={() => {
            setAsking(null);
            void again();
          }}
        />
      )}
      {asking === "rotate" && (
        <FormDialog
          title={`Replace the credentials of ${watcher.name}`}
          description="Enter all of them. They are tested first: if the place cannot be read with them, the old ones are kept."
          action="Test and replace"
          onClose={() => setAsking(null)}
          onSave={async (form) => {
            const body = {
              credentials: credentialsOf(watcher.kind, form),
              test: form.get("untested") === null,
            };
            await ok(client.POST("/api/watchers/{watcher_id}/rotate", { params, body }));
            setAsking(null);
            toast.success(body.test ? `${watcher.name} can be read with them` : "Stored without a test");
            void again();
          }}
        >
          <CredentialFields kind={watcher.kind} />
          <Untested />
        </FormDialog>
      )}
      <Confirm
        open={asking === "delete"}
        onOpenChange={() => setAsking(null)}
        title={`Delete ${watcher.name}?`}
        action="Delete"
        danger
        onConfirm={async () => {
          await ok(client.DELETE("/api/watchers/{watcher_id}", { params }));
          toast.success("The watcher is deleted");
          void again();
        }}
      >
        <p>The credentials are deleted. Its jobs and the files in the place stay.</p>
      </Confirm>
    </Card>
  );
}
