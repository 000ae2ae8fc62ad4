// Colour means state, always with an icon and a word.
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  Clock,
  LoaderCircle,
  type LucideIcon,
  SearchX,
} from "lucide-react";
import type { ItemStatus, JobState } from "./api";

export type Tone = "pending" | "processing" | "done" | "error" | "not-found" | "skipped" | "paused";

export interface Look {
  tone: Tone;
  word: string;
  icon: LucideIcon;
}

export const ITEM_LOOKS: Record<ItemStatus, Look> = {
  PENDING: { tone: "pending", word: "Pending", icon: CircleDashed },
  PROCESSING: { tone: "processing", word: "Processing", icon: LoaderCircle },
  DONE: { tone: "done", word: "Done", icon: CircleCheck },
  ERROR: { tone: "error", word: "Error", icon: CircleX },
  NOT_FOUND: { tone: "not-found", word: "Not found", icon: SearchX },
  SKIPPED: { tone: "skipped", word: "Skipped", icon: CircleSlash },
};

export const JOB_LOOKS: Record<JobState, Look> = {
  queued: { tone: "pending", word: "Queued", icon: CircleDashed },
  delayed: { tone: "pending", word: "Delayed", icon: Clock },
  running: { tone: "processing", word: "Running", icon: LoaderCircle },
  paused: { tone: "paused", word: "Paused", icon: CirclePause },
  cancelling: { tone: "skipped", word: "Cancelling", icon: LoaderCircle },
  done: { tone: "done", word: "Done", icon: CircleCheck },
  failed: { tone: "error", word: "Failed", icon: CircleX },
  cancelled: { tone: "skipped", word: "Cancelled", icon: Ban },
};

/** Of a job that sends webhooks or notifications as they come, and never ends. */
export const STANDING_LOOK: Look = { tone: "pending", word: "Standing", icon: CircleDashed };

export const TONE_CLASSES: Record<Tone, string> = {
  pending: "text-pending bg-pending-bg border-pending/25",
  processing: "text-processing bg-processing-bg border-processing/25",
  done: "text-done bg-done-bg border-done/25",
  error: "text-error bg-error-bg border-error/25",
  "not-found": "text-not-found bg-not-found-bg border-not-found/25",
  skipped: "text-skipped bg-skipped-bg border-skipped/25",
  paused: "text-paused bg-paused-bg border-paused/25",
};

export const TONE_FILL: Record<Tone, string> = {
  pending: "bg-line-strong",
  processing: "bg-processing",
  done: "bg-done",
  error: "bg-error",
  "not-found": "bg-not-found",
  skipped: "bg-skipped/40",
  paused: "bg-paused",
};

export const LIVE_STATES: readonly JobState[] = ["queued", "delayed", "running", "paused", "cancelling"];

export function isLive(state: JobState): boolean {
  return LIVE_STATES.includes(state);
}

export const COUNTER_OF: Record<
  ItemStatus,
  "pending" | "processing" | "done" | "error" | "notFound" | "skipped"
> = {
  PENDING: "pending",
  PROCESSING: "processing",
  DONE: "done",
  ERROR: "error",
  NOT_FOUND: "notFound",
  SKIPPED: "skipped",
};
