import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCw, Trash2 } from "lucide-react";
import { Button } from "../../components/button";
import { Drawer } from "../../components/drawer";
import { ErrorNote } from "../../components/error-note";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Facts, Json } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import type { Closing } from "./close";

interface Props {
  id: string;
  canWrite: boolean;
  onClose: () => void;
  onAct: (closing: Closing) => void;
}

/** All that is needed to judge one letter. */
export function LetterDrawer({ id, canWrite, onClose, onAct }: Props) {
  const letter = useQuery({
    queryKey: ["letters", "one", id],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/dead-letters/{letter_id}", { params: { path: { letter_id: id } }, signal })),
  });
  const one = letter.data;
  return (
    <Drawer open onOpenChange={onClose} title={one?.name ?? "Dead letter"}>
      {letter.error && <ErrorNote error={letter.error} onRetry={() => void letter.refetch()} />}
      {!one ? (
        letter.isPending && <RowsSkeleton />
      ) : (
        <div className="space-y-5">
          <div className="flex flex-wrap items-center gap-2">
            <Badge tone={one.state === "open" ? "error" : one.state === "discarded" ? "skipped" : "done"}>
              {one.state}
            </Badge>
            {canWrite && one.state === "open" && (
              <>
                <Button size="sm" onClick={() => onAct({ how: "reprocess", letter: one.id })}>
                  <RotateCw aria-hidden /> Run again
                </Button>
                <Button size="sm" onClick={() => onAct({ how: "discard", letter: one.id })}>
                  <Trash2 aria-hidden /> Discard
                </Button>
              </>
            )}
          </div>
          <div className="rounded-md bg-error-bg px-3 py-2 text-sm text-error">
            <span className="font-mono text-xs">{one.code}</span>
            <p className="break-words">{one.message}</p>
          </div>
          <Facts
            facts={[
              [
                "Job",
                <Link
                  key="job"
                  to="/jobs/$jobId"
                  params={{ jobId: one.jobId }}
                  className="plain-link font-mono text-xs"
                >
                  {one.jobId}
                </Link>,
              ],
              ["Pipeline", one.pipeline],
              ["Organisation", one.org],
              ["Tries", one.attempts],
              ["First failed", <Time key="first" at={one.firstFailedAt} />],
              ["Last failed", <Time key="last" at={one.lastFailedAt} />],
              [
                "Run again as",
                one.newJobId && (
                  <Link
                    to="/jobs/$jobId"
                    params={{ jobId: one.newJobId }}
                    className="plain-link font-mono text-xs"
                  >
                    {one.newJobId}
                  </Link>
                ),
              ],
              ["Reason for discarding", one.reason],
            ]}
          />
          <section>
            <h3 className="mb-1 text-sm font-semibold">Configuration</h3>
            <Json value={one.config} label="Configuration" />
          </section>
          {Object.keys(one.details).length > 0 && (
            <section>
              <h3 className="mb-1 text-sm font-semibold">Details of the error</h3>
              <Json value={one.details} label="Details" />
            </section>
          )}
          {one.trace && (
            <section>
              <h3 className="mb-1 text-sm font-semibold">Stack trace</h3>
              <Json value={one.trace} label="Stack trace" />
            </section>
          )}
        </div>
      )}
    </Drawer>
  );
}
