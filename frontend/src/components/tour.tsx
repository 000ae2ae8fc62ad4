import { Lightbulb, X } from "lucide-react";
import { setPrefs, usePrefs } from "../lib/prefs";
import { Button } from "./button";

const NOTES = {
  file: "This is where supplier files come in. The sample has the flaws real ones have: choose it to see what Penstock makes of it.",
  reading:
    "Delimiter, encoding, sheet and header row were found in the file itself. Each can be set by hand if it looks wrong below.",
  mapping:
    "Each column was matched to a field by its name or by what stands in it. Change what is wrong; save it as a profile, and the supplier's next file is mapped by itself.",
  dryrun:
    "The first rows, as they would come out. Bad cells are marked with the reason. Nothing has been written so far.",
  confirm:
    "“Check” writes nothing. The other intents put products into the catalog, and every such job can be undone.",
  job: "Each row has a state of its own. Click a counter to see its rows, a row to see where every value is from; under Errors, double-click a cell to put it right.",
} as const;

/** A word in the right place, on the first way through; it ends for good with one click. */
export function TourNote({ place }: { place: keyof typeof NOTES }) {
  const { tour } = usePrefs();
  if (tour !== "on") return null;
  return (
    <aside
      aria-label="Tour"
      className="mb-4 flex items-center gap-2 rounded-md border border-accent/40 bg-accent-soft px-3 py-2 text-sm"
    >
      <Lightbulb className="size-4 shrink-0 text-accent" aria-hidden />
      <p className="flex-1">{NOTES[place]}</p>
      <Button size="sm" look="quiet" onClick={() => setPrefs({ tour: "done" })}>
        <X aria-hidden /> End the tour
      </Button>
    </aside>
  );
}
