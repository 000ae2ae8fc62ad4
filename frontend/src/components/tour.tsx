import { Lightbulb, X } from "lucide-react";
import { setPrefs, usePrefs } from "../lib/prefs";
import { Button } from "./button";

const NOTES = {
  file: "Upload a supplier file here. The sample has typical errors: choose it to see how Penstock handles them.",
  reading:
    "Delimiter, encoding, sheet and header row were detected. Change them here if the rows below look wrong.",
  mapping:
    "Each column was matched to a field by its name or its content. Correct what is wrong and save it as a profile: the supplier's next file is then mapped automatically.",
  dryrun:
    "The first rows as they would be imported. Bad cells are marked with the reason. Nothing is written yet.",
  confirm:
    "“Check” writes nothing. The other choices write products to the catalog, and every import can be undone.",
  job: "Every row has its own state. Click a counter to see its rows, or a row to see the origin of each value. Under Errors, double-click a cell to correct it.",
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
        <X aria-hidden /> End tour
      </Button>
    </aside>
  );
}
