import { cn } from "../lib/cn";
import type { Intent } from "../lib/intents";
import { INTENTS } from "../lib/intents";

interface Props {
  value: Intent;
  intents?: readonly Intent[];
  onChange: (intent: Intent) => void;
}

/** What a job may write to the catalog. */
export function IntentChoice({ value, intents, onChange }: Props) {
  return (
    <fieldset className="space-y-2">
      <legend className="mb-2 text-base font-semibold">What may be written to the catalog?</legend>
      {INTENTS.filter(([one]) => !intents || intents.includes(one)).map(([one, label, told]) => (
        <label
          key={one}
          className={cn(
            "flex cursor-pointer items-start gap-3 rounded-md border bg-surface px-4 py-2.5 hover:border-line-strong",
            value === one && "border-accent bg-accent-soft hover:border-accent",
          )}
        >
          <input
            type="radio"
            name="intent"
            value={one}
            checked={value === one}
            onChange={() => onChange(one)}
            className="mt-1 accent-(--accent)"
          />
          <span>
            <span className="block text-sm font-medium">{label}</span>
            <span className="block text-sm text-ink-2">{told}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
