import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ListChecks, Pause, Play, RotateCw, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Menu, MenuItem, MenuLabel } from "../../components/menu";
import { toast } from "../../components/toast";
import { client, type JobState, ok } from "../../lib/api";
import { count, plural } from "../../lib/format";

const ACTIONS = {
  pause: { icon: Pause, label: "Pause", told: "No more of their rows start until they are resumed." },
  resume: { icon: Play, label: "Resume", told: "Paused jobs continue." },
  reprocess: {
    icon: RotateCw,
    label: "Reprocess",
    told: "Failed rows run again from the stage where they failed.",
  },
  cancel: {
    icon: X,
    label: "Cancel",
    told: "Rows that are not finished are skipped. Results so far are kept.",
  },
} as const;
type Action = keyof typeof ACTIONS;

interface Props {
  states: JobState[];
  pipeline: string | undefined;
  name: string | undefined;
}

/** One action on every job that matches, not only on those in sight; the count is shown first. */
export function BulkMenu(props: Props) {
  const [action, setAction] = useState<Action | null>(null);
  return (
    <>
      <Menu
        trigger={
          <Button>
            <ListChecks aria-hidden /> All matching
          </Button>
        }
      >
        <MenuLabel>With every job that matches</MenuLabel>
        {(Object.keys(ACTIONS) as Action[]).map((one) => (
          <MenuItem
            key={one}
            icon={ACTIONS[one].icon}
            danger={one === "cancel"}
            onSelect={() => setAction(one)}
          >
            {ACTIONS[one].label} …
          </MenuItem>
        ))}
      </Menu>
      {action && <Ask action={action} {...props} onClose={() => setAction(null)} />}
    </>
  );
}

function Ask({ action, states, pipeline, name, onClose }: Props & { action: Action; onClose: () => void }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const filter = {
    ...(states.length ? { states } : {}),
    ...(pipeline ? { pipeline } : {}),
    ...(name ? { name } : {}),
    all: states.length === 0 && !pipeline && !name,
  };
  const order = { action, filter, params: {} };
  const counted = useQuery({
    queryKey: ["bulk", "count", action, JSON.stringify(filter)],
    queryFn: async ({ signal }) =>
      (await ok(client.POST("/api/bulk", { body: { ...order, dryRun: true }, signal }))) as {
        count: number;
        capped: boolean;
      },
    gcTime: 0,
  });
  const many = counted.data?.count ?? 0;
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await ok(client.POST("/api/bulk", { body: { ...order, dryRun: false } }));
      toast.success("Running in the background; see the top of the page");
      void queries.invalidateQueries({ queryKey: ["operations"] });
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  const { label, told } = ACTIONS[action];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`${label} every job that matches?`}
      footer={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            look={action === "cancel" ? "danger" : "primary"}
            busy={busy}
            disabled={!counted.data || many === 0}
            onClick={run}
          >
            {label} {counted.data ? plural(many, "job") : "…"}
          </Button>
        </>
      }
    >
      <div className="space-y-3 text-sm text-ink-2" aria-live="polite">
        {counted.error && <ErrorNote error={counted.error} onRetry={() => void counted.refetch()} />}
        {counted.data &&
          (many === 0 ? (
            <p>No matching job that you may change.</p>
          ) : (
            <p>
              <strong className="text-ink">
                {counted.data.capped ? "At least " : ""}
                {count(many)}
              </strong>{" "}
              {many === 1 ? "job matches" : "jobs match"}. {told} Jobs in no state for it are left alone.
            </p>
          ))}
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
