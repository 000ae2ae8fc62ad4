import { Toaster as Sonner, toast } from "sonner";
import { usePrefs } from "../lib/prefs";

export { toast };

/** Toasts confirm; errors stay where they happened. */
export function Toaster() {
  const { theme } = usePrefs();
  return (
    <Sonner
      theme={theme}
      position="bottom-right"
      toastOptions={{
        style: {
          background: "var(--surface)",
          color: "var(--ink)",
          borderColor: "var(--line)",
          fontFamily: "inherit",
        },
      }}
    />
  );
}
