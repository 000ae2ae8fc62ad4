import { cn } from "../lib/cn";
import { type LiveState, useLiveState } from "../lib/live";

const WORDS: Record<LiveState, [word: string, title: string, dot: string]> = {
  connecting: ["Connecting", "Opening the stream of changes", "bg-pending"],
  live: ["Live", "Changes are shown as they happen", "bg-done"],
  polling: [
    "Every 3 s",
    "No stream is possible here; changes are asked for every 3 seconds",
    "bg-processing",
  ],
  reconnecting: ["Reconnecting", "The server does not answer; trying again", "bg-not-found animate-pulse"],
};

export function LiveBadge() {
  const [word, title, dot] = WORDS[useLiveState()];
  return (
    <span
      role="status"
      title={title}
      className="inline-flex h-6 items-center gap-1.5 rounded-full border px-2 text-xs text-ink-2"
    >
      <span className={cn("size-2 rounded-full", dot)} aria-hidden /> {word}
    </span>
  );
}
