import { ToggleGroup } from "radix-ui";
import type { ReactNode } from "react";

interface Props<T extends string> {
  value: T;
  onChange: (value: T) => void;
  options: { value: T; label: ReactNode; title?: string }[];
  label: string;
}

/** One of a few, all in sight. */
export function Choice<T extends string>({ value, onChange, options, label }: Props<T>) {
  return (
    <ToggleGroup.Root
      type="single"
      value={value}
      onValueChange={(next) => next && onChange(next as T)}
      aria-label={label}
      className="inline-flex h-8 max-w-full overflow-x-auto rounded-md border border-line-strong bg-surface p-0.5"
    >
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          title={option.title}
          className="inline-flex shrink-0 items-center gap-1.5 rounded whitespace-nowrap px-2.5 text-sm text-ink-2 hover:text-ink data-[state=on]:bg-hover data-[state=on]:font-medium data-[state=on]:text-ink [&_svg]:size-4"
        >
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
