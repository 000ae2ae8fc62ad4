import { activeShortcuts } from "../lib/keys";
import { setPrefs, usePrefs } from "../lib/prefs";
import { Dialog } from "./dialog";
import { Checkbox } from "./field";
import { Kbd } from "./kbd";

export function ShortcutHelp({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const { shortcuts } = usePrefs();
  const list = activeShortcuts();
  const groups = [...new Set(list.map((one) => one.group))];
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Keyboard shortcuts">
      <div className="space-y-4 pb-2">
        {groups.map((group) => (
          <section key={group}>
            <h3 className="mb-1 text-xs font-medium text-ink-3">{group}</h3>
            <dl className="divide-y">
              {list
                .filter((one) => one.group === group)
                .map((one) => (
                  <div key={one.keys} className="flex items-center justify-between py-1 text-sm">
                    <dt>{one.what}</dt>
                    <dd>
                      <Kbd keys={one.keys} />
                    </dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
        <div className="flex items-center justify-between border-t pt-2 text-sm">
          <span>Search or run a command</span>
          <Kbd keys="Ctrl K" />
        </div>
        <label className="flex items-center gap-2 border-t pt-3 text-sm">
          <Checkbox checked={shortcuts} onChange={(event) => setPrefs({ shortcuts: event.target.checked })} />
          Single keys are shortcuts
        </label>
      </div>
    </Dialog>
  );
}
