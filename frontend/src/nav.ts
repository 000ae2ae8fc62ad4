// The pages of the sidebar, in order. A page that is added here is in the palette and has its shortcut, too.
import {
  Activity,
  Briefcase,
  CalendarClock,
  FolderSync,
  Gauge,
  Globe,
  Hourglass,
  ListChecks,
  type LucideIcon,
  MailWarning,
  Package,
  Plug,
  Search,
  Settings,
  Store,
  Webhook,
} from "lucide-react";
import type { Session } from "./lib/session";

export interface NavEntry {
  to: string;
  label: string;
  icon: LucideIcon;
  /** `g` and this key. */
  key: string;
  shown?: (session: Session) => boolean;
}

export const NAV: NavEntry[] = [
  { to: "/jobs", label: "Jobs", icon: ListChecks, key: "j" },
  {
    to: "/pending",
    label: "Pending",
    icon: Hourglass,
    key: "w",
    shown: (session) => session.flags.globalPending,
  },
  { to: "/dead-letters", label: "Dead letters", icon: MailWarning, key: "d" },
  { to: "/products", label: "Products", icon: Package, key: "p" },
  { to: "/runs", label: "Crawl runs", icon: Globe, key: "r" },
  { to: "/postings", label: "Job postings", icon: Briefcase, key: "b" },
  { to: "/research", label: "Research", icon: Search, key: "e" },
  { to: "/sources", label: "Sources", icon: Plug, key: "u" },
  { to: "/schedules", label: "Schedules", icon: CalendarClock, key: "t" },
  { to: "/connections", label: "Connections", icon: Store, key: "c" },
  { to: "/watchers", label: "Watchers", icon: FolderSync, key: "f" },
  { to: "/providers", label: "Providers", icon: Gauge, key: "o" },
  {
    to: "/monitor",
    label: "Monitor",
    icon: Activity,
    key: "m",
    shown: (session) => session.user.role === "admin",
  },
  { to: "/webhooks", label: "Webhooks", icon: Webhook, key: "h" },
  { to: "/settings", label: "Settings", icon: Settings, key: "s" },
];
