import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { TabPanel, Tabs } from "../../components/tabs";
import { useSession } from "../../lib/session";

const PARTS = {
  keys: { label: "API keys", Part: lazy(() => import("./keys")), admin: false },
  profiles: { label: "Profiles", Part: lazy(() => import("./profiles")), admin: false },
  exports: { label: "Exports", Part: lazy(() => import("./export-templates")), admin: false },
  feeds: { label: "Feeds", Part: lazy(() => import("./feeds")), admin: false },
  retention: { label: "Retention", Part: lazy(() => import("./retention")), admin: false },
  notifications: {
    label: "Notifications",
    Part: lazy(() => import("./notifications")),
    admin: false,
  },
  account: { label: "Account", Part: lazy(() => import("./account")), admin: false },
  users: { label: "Users", Part: lazy(() => import("./users")), admin: true },
  audit: { label: "Audit log", Part: lazy(() => import("./audit")), admin: true },
} as const;

type Name = keyof typeof PARTS;

export default function Settings() {
  const { part } = useParams({ from: "/inside/settings/$part" });
  const navigate = useNavigate();
  const admin = useSession().user.role === "admin";
  const names = (Object.keys(PARTS) as Name[]).filter((name) => admin || !PARTS[name].admin);
  const shown = names.find((name) => name === part) ?? "keys";
  const { Part } = PARTS[shown];
  return (
    <Page title="Settings">
      <Tabs
        label="Settings"
        value={shown}
        onChange={(next) => void navigate({ to: "/settings/$part", params: { part: next } })}
        tabs={names.map((name) => ({ value: name, label: PARTS[name].label }))}
      >
        <TabPanel value={shown} className="pt-4 outline-none">
          <Suspense fallback={<RowsSkeleton />}>
            <Part />
          </Suspense>
        </TabPanel>
      </Tabs>
    </Page>
  );
}
