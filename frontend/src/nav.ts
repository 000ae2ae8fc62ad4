// The pages of the sidebar, in order. A page that is added here is in the palette and has its shortcut, too.
import { ListChecks, type LucideIcon } from "lucide-react";
import type { Session } from "./lib/session";

export interface NavEntry {
  to: string;
  label: string;
  icon: LucideIcon;
  /** `g` and this key. */
  key: string;
  shown?: (session: Session) => boolean;
}

export const NAV: NavEntry[] = [{ to: "/jobs", label: "Jobs", icon: ListChecks, key: "j" }];
