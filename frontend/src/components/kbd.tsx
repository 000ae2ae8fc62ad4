export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-0.5">
      {keys.split(" ").map((key) => (
        <kbd
          key={key}
          className="inline-flex h-5 min-w-5 items-center justify-center rounded border bg-sunken px-1 font-mono text-xs text-ink-2"
        >
          {key}
        </kbd>
      ))}
    </span>
  );
}
