import { useRef, useState } from "react";

interface Props {
  text: string;
  label: string;
  /** The new text, or null where it stays as it was. */
  onDone: (text: string | null) => void;
}

export function EditCell({ text, label, onDone }: Props) {
  const [value, setValue] = useState(text);
  const done = useRef(false);
  const end = (next: string | null) => {
    if (done.current) return;
    done.current = true;
    onDone(next);
  };
  return (
    <input
      aria-label={label}
      // The person has just asked to type here.
      ref={(element) => {
        if (element && !element.dataset.begun) {
          element.dataset.begun = "1";
          element.focus();
          element.select();
        }
      }}
      value={value}
      onChange={(event) => setValue(event.target.value)}
      onBlur={() => end(value)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") end(value);
        if (event.key === "Escape") end(null);
      }}
      className="-mx-1 h-6 w-full rounded border border-accent bg-surface px-1 text-sm outline-none"
    />
  );
}
