import { useState } from "react";
import { Checkbox } from "./field";
import type { Column } from "./table";

/** The rows of a list that a person has chosen, by their keys. */
export function useChosen<Key>() {
  const [chosen, setChosen] = useState<ReadonlySet<Key>>(new Set());
  const choose = (key: Key, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(key);
    else next.delete(key);
    setChosen(next);
  };
  return { chosen, choose, setAll: (keys: Key[]) => setChosen(new Set(keys)) };
}

type Chosen<Key> = ReturnType<typeof useChosen<Key>>;

/** The head of the column with a checkbox per row; none where a person may not choose. */
export function chooseAllColumn<Key>(
  { chosen, setAll }: Chosen<Key>,
  keys: Key[],
  canChoose: boolean,
): Column[] {
  if (!canChoose) return [];
  return [
    {
      label: (
        <Checkbox
          aria-label="Choose all shown"
          checked={chosen.size === keys.length}
          onChange={(event) => setAll(event.target.checked ? keys : [])}
        />
      ),
      className: "w-8",
    },
  ];
}

/** The cell that chooses a row. */
export function ChooseCell<Key>({ of, rowKey, label }: { of: Chosen<Key>; rowKey: Key; label: string }) {
  return (
    <td>
      <Checkbox
        aria-label={label}
        checked={of.chosen.has(rowKey)}
        onChange={(event) => of.choose(rowKey, event.target.checked)}
      />
    </td>
  );
}
