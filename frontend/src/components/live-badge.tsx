import { cn } from "../lib/cn";
import { type LiveState, useLiveState } from "../lib/live";

const WORDS: Record<LiveState, [word: string, title: string, dot: string]> = {
  connecting: ["Connecting", "Connecting for live updates", "bg-pending"],
  live: ["Live", "Live: changes appear at once", "bg-done"],
  polling: ["Every 3 s", "No live connection; updated every 3 seconds", "bg-processing"],
  reconnecting: ["Reconnecting", "The server does not answer; reconnecting", "bg-not-found animate-pulse"],
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
