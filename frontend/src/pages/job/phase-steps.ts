export interface PhaseStep {
  phase: string;
  open: number;
  now: boolean;
  done: boolean;
}

export const PHASE_WORDS: Record<string, string> = {
  fetching: "Fetching",
  mapping: "Mapping",
  creating: "Creating products",
  downloading_images: "Downloading images",
  uploading_images: "Storing images",
  thumbnails: "Making thumbnails",
  finalising: "Finalising",
};

/** Each phase as it stands: a phase is over once neither it nor one before it has anything open. */
export function phaseSteps(
  phase: string | null,
  phases: { phase: string; open: number }[] | null,
  live: boolean,
): PhaseStep[] {
  if (!phase || !phases) return [];
  const steps = [...phases, { phase: "finalising", open: 0 }];
  const current = steps.findIndex((step) => step.phase === phase);
  return steps.map((step, place) => ({
    ...step,
    now: live && place === current,
    done: phase === "done" || (current >= 0 && place < current),
  }));
}
