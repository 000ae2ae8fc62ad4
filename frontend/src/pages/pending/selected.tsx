import { FastForward, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { toast } from "../../components/toast";
import { count, plural } from "../../lib/format";
import { useShortcuts } from "../../lib/keys";
import { tryNow, type Which } from "../../lib/retry";

interface Props {
  selected: number;
  /** All that match, not only those that are named. */
  all: boolean;
  /** How many rows are open in all; null where a filter makes it unknown. */
  matching: number | null;
  onTakeAll: () => void;
  onClear: () => void;
  which: () => Which;
  onDone: () => void;
}

/** What can be done with open rows: those that wait for a time to come are tried now. */
export function OpenSelection({ selected, all, matching, onTakeAll, onClear, which, onDone }: Props) {
  const [asking, setAsking] = useState(false);
  useShortcuts("Selected rows", {
    r: ["Retry selected rows now", () => setAsking(true)],
    Escape: ["Clear selection", onClear],
  });
  const run = async () => {
    const retried = await tryNow(which());
    const left = all ? 0 : selected - retried;
    onClear();
    onDone();
    toast.success(
      retried === 0
        ? "None of them was waiting for a retry"
        : `${plural(retried, "row is", "rows are")} tried now${left > 0 ? `, ${count(left)} left as they are` : ""}`,
    );
  };
  const meant = all ? "all that match" : plural(selected, "row");
  return (
    <div
      role="region"
      aria-label="Selected rows"
      className="fade-in flex flex-wrap items-center gap-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-1.5 text-sm"
    >
      <span className="font-medium" aria-live="polite">
        {all
          ? matching === null
            ? "All matching rows selected"
            : `All ${count(matching)} matching rows selected`
          : `${count(selected)} selected`}
      </span>
      {!all && (
        <button type="button" className="plain-link" onClick={onTakeAll}>
          {matching === null ? "Select all that match" : `Select all ${count(matching)} matching`}
        </button>
      )}
      <div className="flex-1" />
      <Button size="sm" look="primary" onClick={() => setAsking(true)}>
        <FastForward aria-hidden /> Try now
      </Button>
      <Button size="sm" look="quiet" onClick={onClear}>
        <X aria-hidden /> Clear
      </Button>
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title={`Try ${meant} now?`}
        action={`Try ${meant} now`}
        onConfirm={run}
      >
        <p>
          Rows that wait for a retry are tried now; their number of tries is kept. Other waiting and running
          rows are not affected.
        </p>
      </Confirm>
    </div>
  );
}
