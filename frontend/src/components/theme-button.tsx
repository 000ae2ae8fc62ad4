import { Monitor, Moon, Sun } from "lucide-react";
import { type Prefs, prefs, setPrefs, usePrefs } from "../lib/prefs";
import { Button } from "./button";

const NEXT: Record<Prefs["theme"], Prefs["theme"]> = { system: "light", light: "dark", dark: "system" };
const ICONS = { system: Monitor, light: Sun, dark: Moon };

export function cycleTheme(): void {
  setPrefs({ theme: NEXT[prefs().theme] });
}

export function ThemeButton() {
  const { theme } = usePrefs();
  const Icon = ICONS[theme];
  const told = theme === "system" ? "system" : theme;
  return (
    <Button
      look="quiet"
      size="icon"
      onClick={cycleTheme}
      aria-label={`Theme: ${told}. Change`}
      title={`Theme: ${told}`}
    >
      <Icon aria-hidden />
    </Button>
  );
}
