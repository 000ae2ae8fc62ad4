import { Tabs as Radix } from "radix-ui";
import { type ReactNode, useEffect, useRef } from "react";

interface Tab {
  value: string;
  label: ReactNode;
}

interface Props {
  value: string;
  onChange: (value: string) => void;
  tabs: Tab[];
  label: string;
  children: ReactNode;
  className?: string;
}

export function Tabs({ value, onChange, tabs, label, children, className }: Props) {
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the tab of this page may be beyond the edge of the list.
  useEffect(() => {
    const active = list.current?.querySelector<HTMLElement>("[data-state=active]");
    if (list.current && active) list.current.scrollLeft = active.offsetLeft - list.current.offsetLeft - 16;
  }, [value]);
  return (
    <Radix.Root value={value} onValueChange={onChange} className={className}>
      <Radix.List ref={list} aria-label={label} className="flex overflow-x-auto border-b sm:gap-1">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2 text-sm sm:px-3 font-medium text-ink-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {children}
    </Radix.Root>
  );
}

export const TabPanel = Radix.Content;
