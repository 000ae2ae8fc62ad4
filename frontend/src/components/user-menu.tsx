import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleUser, Keyboard, LogOut } from "lucide-react";
import { live } from "../lib/live";
import { type Prefs, setPrefs, usePrefs } from "../lib/prefs";
import { sessionQuery, signOut, useSession } from "../lib/session";
import { Button } from "./button";
import { Menu, MenuCheck, MenuItem, MenuLabel, MenuLine } from "./menu";

const TIMES: [Prefs["times"], string][] = [
  ["relative", "Relative time"],
  ["local", "Local time"],
  ["utc", "UTC"],
];

export function UserMenu({ onHelp }: { onHelp: () => void }) {
  const { user } = useSession();
  const { times, density, shortcuts } = usePrefs();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const leave = async () => {
    live.end();
    await signOut().catch(() => undefined);
    queries.clear();
    queries.setQueryData(sessionQuery.queryKey, null);
    await navigate({ to: "/login" });
  };
  return (
    <Menu
      trigger={
        <Button look="quiet" size="icon" aria-label={`${user.email}: settings of this browser, sign out`}>
          <CircleUser aria-hidden />
        </Button>
      }
    >
      <MenuLabel>
        <span className="block text-sm font-medium text-ink">{user.email}</span>
        {user.role}
      </MenuLabel>
      <MenuLine />
      <MenuLabel>Show times as</MenuLabel>
      {TIMES.map(([value, label]) => (
        <MenuCheck key={value} checked={times === value} onChange={() => setPrefs({ times: value })}>
          {label}
        </MenuCheck>
      ))}
      <MenuLine />
      <MenuCheck
        checked={density === "compact"}
        onChange={(on) => setPrefs({ density: on ? "compact" : "normal" })}
      >
        Compact rows
      </MenuCheck>
      <MenuCheck checked={shortcuts} onChange={(on) => setPrefs({ shortcuts: on })}>
        Keyboard shortcuts
      </MenuCheck>
      <MenuItem icon={Keyboard} onSelect={onHelp}>
        All shortcuts
      </MenuItem>
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={leave}>
        Sign out
      </MenuItem>
    </Menu>
  );
}
