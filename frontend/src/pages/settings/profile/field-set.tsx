import { X } from "lucide-react";
import { Button } from "../../../components/button";
import { Select } from "../../../components/field";
import { fieldLabel } from "../../../lib/labels";
import type { ProductField } from "../../../lib/mapping";

interface Props {
  label: string;
  /** Null: the usual ones. */
  chosen: string[] | null;
  fields: ProductField[];
  /** What applies where none are chosen; without it, none do. */
  usual?: string;
  /** Whether all fields can be chosen at once, as `*`. */
  all?: boolean;
  error: string | undefined;
  readOnly: boolean;
  onChange: (chosen: string[] | null) => void;
}

const ALL = "*";

/** Some of the fields of a product. */
export function FieldSet({ label, chosen, fields, usual, all, error, readOnly, onChange }: Props) {
  const names = chosen ?? [];
  const free = fields.filter((field) => !names.includes(field.target));
  const shown = (name: string) => (name === ALL ? "All fields" : fieldLabel(name));
  return (
    <div className="space-y-2">
      <ul className="flex flex-wrap gap-2">
        {names.map((name) => (
          <li key={name} className="flex items-center gap-1 rounded-md border bg-sunken py-0.5 pl-2 text-sm">
            {shown(name)}
            <Button
              look="quiet"
              size="icon-sm"
              aria-label={`Remove ${shown(name)}`}
              onClick={() => onChange(names.filter((one) => one !== name))}
            >
              <X aria-hidden />
            </Button>
          </li>
        ))}
        {names.length === 0 && (
          <li className="text-sm text-ink-2">{chosen === null && usual ? usual : "None"}</li>
        )}
      </ul>
      {!readOnly && (
        <div className="flex flex-wrap gap-2">
          <Select
            aria-label={`Add: ${label}`}
            aria-invalid={error ? true : undefined}
            className="w-64"
            value=""
            onChange={(event) => event.target.value && onChange([...names, event.target.value])}
          >
            <option value="">Add a field …</option>
            {all && !names.includes(ALL) && <option value={ALL}>All fields</option>}
            {free.map((field) => (
              <option key={field.target} value={field.target} title={field.description}>
                {fieldLabel(field.target)}
              </option>
            ))}
          </Select>
          {usual && chosen !== null && (
            <Button look="quiet" onClick={() => onChange(null)}>
              Use the default
            </Button>
          )}
        </div>
      )}
      {error && <p className="text-xs text-error">{error}</p>}
    </div>
  );
}
