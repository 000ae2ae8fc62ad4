import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { plural } from "../../lib/format";

export type Closing = { how: "reprocess" | "discard"; letter?: string; signature?: string };

interface Props {
  closing: Closing;
  onClose: () => void;
  onDone: () => void;
}

/** Run again or discard, one or a whole group: counted first, in as many calls as it takes. */
export function Close({ closing, onClose, onDone }: Props) {
  const { how, letter, signature } = closing;
  const [reason, setReason] = useState("");
  const { busy, error, attempt } = useAttempt();
  const counted = useQuery({
    queryKey: ["letters", "count", signature],
    queryFn: ({ signal }) =>
      ok(
        client.POST("/api/dead-letters/reprocess", {
          body: { signature: signature ?? "", dryRun: true },
          signal,
        }),
      ),
    enabled: !!signature,
    gcTime: 0,
  });
  const many = letter ? 1 : counted.data?.count;
  const run = async () => {
    await attempt(async () => {
      const done = letter ? await one(how, letter, reason) : await all(how, signature ?? "", reason);
      toast.success(`${plural(done, "letter")} ${how === "discard" ? "discarded" : "run again"}`);
      onDone();
      onClose();
    });
  };
  const discard = how === "discard";
  const which = many === undefined ? "these" : plural(many, "dead letter");
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={discard ? `Discard ${which}?` : `Run ${which} again?`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look={discard ? "danger" : "primary"}
            busy={busy}
            disabled={many === undefined || many === 0 || (discard && !reason.trim())}
            onClick={run}
          >
            {discard ? "Discard" : "Run again"}
          </Button>
        </>
      }
    >
      <div className="space-y-3 text-sm text-ink-2">
        <p>
          {discard
            ? "They are closed for good. The audit log records the user and the reason."
            : "Each becomes a new job at priority 10, with the same file and configuration. If the cause remains, it will fail again."}
        </p>
        {discard && (
          <Field label="Why" hint="Shown with the dead letter and in the audit log.">
            {(ids) => (
              <Input
                {...ids}
                value={reason}
                maxLength={500}
                onChange={(event) => setReason(event.target.value)}
              />
            )}
          </Field>
        )}
        {counted.error && <ErrorNote error={counted.error} />}
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}

async function one(how: Closing["how"], id: string, reason: string): Promise<number> {
  const params = { path: { letter_id: id } };
  if (how === "discard") {
    await ok(client.POST("/api/dead-letters/{letter_id}/discard", { params, body: { reason } }));
  } else {
    await ok(client.POST("/api/dead-letters/{letter_id}/reprocess", { params }));
  }
  return 1;
}

async function all(how: Closing["how"], signature: string, reason: string): Promise<number> {
  let total = 0;
  let after = "";
  for (;;) {
    const part =
      how === "discard"
        ? await ok(client.POST("/api/dead-letters/discard", { body: { signature, reason, after } }))
        : await ok(client.POST("/api/dead-letters/reprocess", { body: { signature, after } }));
    total += part.count;
    if (!part.more) return total;
    after = part.next ?? "";
  }
}
