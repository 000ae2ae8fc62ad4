import { Undo2 } from "lucide-react";
import type { ReactNode } from "react";
import type { ItemStatus, JobState } from "../lib/api";
import { cn } from "../lib/cn";
import { ITEM_LOOKS, JOB_LOOKS, type Look, STANDING_LOOK, TONE_CLASSES, type Tone } from "../lib/states";

export function Badge({
  tone = "skipped",
  children,
  className,
}: {
  tone?: Tone;
  children: ReactNode;
  className?: string;
}) {
  return (
    <span
      className={cn(
        "inline-flex h-5 align-middle items-center gap-1 rounded-full border px-2 text-xs font-medium whitespace-nowrap",
        TONE_CLASSES[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

function Pill({ look, className }: { look: Look; className?: string }) {
  const Icon = look.icon;
  const moves = look.word === "Processing" || look.word === "Running" || look.word === "Cancelling";
  return (
    <Badge tone={look.tone} className={className}>
      <Icon className={cn("size-3", moves && "animate-spin [animation-duration:2s]")} aria-hidden />
      {look.word}
    </Badge>
  );
}

/** `shown` are the pipeline's own words for this item, where it has any. */
export function ItemPill({
  status,
  shown,
  className,
}: {
  status: ItemStatus;
  shown?: string | null;
  className?: string;
}) {
  const look = ITEM_LOOKS[status];
  return <Pill look={shown ? { ...look, word: shown } : look} className={className} />;
}

/** The state of a job; one whose import was undone says so, and one that never ends is standing. */
export function JobPill({
  state,
  undoneAt,
  standing = false,
  className,
}: {
  state: JobState;
  undoneAt?: string | null;
  standing?: boolean;
  className?: string;
}) {
  return (
    <>
      <Pill
        look={standing && (state === "queued" || state === "running") ? STANDING_LOOK : JOB_LOOKS[state]}
        className={className}
      />
      {undoneAt && (
        <Badge tone="paused" className={className}>
          <Undo2 className="size-3" aria-hidden /> Undone
        </Badge>
      )}
    </>
  );
}
