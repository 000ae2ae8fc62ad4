import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { cn } from "../lib/cn";
import { share } from "../lib/format";
import { fieldLabel } from "../lib/labels";
import {
  doubledFields,
  fieldsQuery,
  freeTarget,
  type MappedColumn,
  type Mapping,
  missingFields,
  type ProductField,
  TIER,
  targetOf,
} from "../lib/mapping";
import { Input, Select } from "./field";

interface Props {
  columns: MappedColumn[];
  mapping: Mapping;
  onChange: (mapping: Mapping) => void;
}

export const CUSTOM = "#custom";

/** Each column of the file: what stands in it, what it fills, and how sure that is. */
export function MappingTable({ columns, mapping, onChange }: Props) {
  const fields = useQuery(fieldsQuery).data?.items ?? [];
  const missing = missingFields(columns, mapping, fields);
  const doubled = doubledFields(columns, mapping);
  const set = (column: MappedColumn, value: string) =>
    onChange({
      ...mapping,
      [column.column]: value === CUSTOM ? null : freeTarget(value, column, columns, mapping, fields),
    });
  return (
    <div className="space-y-3">
      {fields.length > 0 && missing.length > 0 && (
        <Hint>
          No column is mapped to {missing.map((one) => `“${fieldLabel(one)}”`).join(" and ")}. Rows without it
          become errors: choose a column for it below.
        </Hint>
      )}
      {doubled.length > 0 && (
        <Hint>
          More than one column fills {doubled.map(fieldLabel).join(", ")}. Leave one of them out, or keep it
          as a custom field.
        </Hint>
      )}
      <div
        className="overflow-x-auto rounded-lg border bg-surface"
        tabIndex={0}
        role="region"
        aria-label="Columns and their fields"
      >
        <table className="w-full text-left text-sm max-sm:block">
          <thead className="max-sm:sr-only">
            <tr className="h-9 border-b bg-sunken text-xs text-ink-2 [&>th]:px-3 [&>th]:font-medium">
              <th>Column</th>
              <th>In the file</th>
              <th className="w-72">Fills</th>
              <th className="w-32">Confidence</th>
            </tr>
          </thead>
          <tbody className="divide-y max-sm:block">
            {columns.map((column) => (
              <tr
                key={column.column}
                className="align-top max-sm:flex max-sm:flex-wrap max-sm:py-2 sm:[&>td]:py-2 [&>td]:px-3"
              >
                <td className="font-medium max-sm:order-1 max-sm:w-3/5">
                  {column.column}
                  <span className="block text-xs font-normal text-ink-3">{share(column.fill)} filled</span>
                </td>
                <td className="sm:w-2/5 sm:max-w-0 max-sm:order-3 max-sm:w-full max-sm:max-w-none max-sm:py-1">
                  {column.samples.length === 0 && <span className="text-ink-3">always empty</span>}
                  <Samples samples={column.samples.slice(0, 3)} />
                </td>
                <td className="max-sm:order-4 max-sm:w-full">
                  <TargetSelect
                    column={column}
                    value={targetOf(column, mapping)}
                    fields={fields}
                    conflict={doubled.includes(targetOf(column, mapping) ?? "")}
                    onChange={set}
                  />
                </td>
                <td className="max-sm:order-2 max-sm:w-2/5">
                  <Confidence column={column} changed={column.column in mapping} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Samples({ samples }: { samples: string[] }) {
  return (
    <span className="block truncate leading-5 text-ink-2" title={samples.join("\n")}>
      {samples.map((sample, place) => (
        <span key={place}>
          {place > 0 && <span className="px-1.5 text-ink-3">·</span>}
          {sample}
        </span>
      ))}
    </span>
  );
}

interface TargetProps<C extends { column: string }> {
  column: C;
  value: string | null;
  fields: ProductField[];
  /** Another column fills the same field. */
  conflict: boolean;
  onChange: (column: C, value: string) => void;
}

/** The field that a column fills; `CUSTOM` where it fills none. */
export function TargetSelect<C extends { column: string }>({
  column,
  value,
  fields,
  conflict,
  onChange,
}: TargetProps<C>) {
  const tier = TIER.exec(value ?? "");
  const known = value === null || value === "ignore" || fields.some((field) => field.target === value);
  return (
    <>
      <Select
        aria-invalid={conflict || undefined}
        aria-label={`Field that ${column.column} fills`}
        value={value ?? CUSTOM}
        onChange={(event) => onChange(column, event.target.value)}
        className={cn(value === "ignore" && "text-ink-3")}
      >
        <option value={CUSTOM}>Custom field, kept as it is</option>
        <option value="ignore">Leave out</option>
        <option value={tier ? tier[0] : "price.tiers.10"}>Price from a quantity</option>
        {!known && !tier && value && <option value={value}>{fieldLabel(value)}</option>}
        <optgroup label="Fields of a product">
          {fields.map((field) => (
            <option key={field.target} value={field.target} title={field.description}>
              {fieldLabel(field.target)}
              {field.required ? " (required)" : ""}
            </option>
          ))}
        </optgroup>
      </Select>
      {tier && (
        <label className="mt-1 flex items-center gap-2 text-xs text-ink-2">
          from quantity
          <Input
            type="number"
            min={1}
            max={9_999_999}
            className="h-7 w-24"
            key={tier[1]}
            defaultValue={tier[1]}
            aria-label={`Quantity from which ${column.column} applies`}
            onBlur={(event) => {
              const quantity = Math.floor(Number(event.target.value));
              if (quantity >= 1 && quantity <= 9_999_999) onChange(column, `price.tiers.${quantity}`);
            }}
          />
        </label>
      )}
      {conflict && <p className="mt-1 text-xs text-error">Another column fills this field, too.</p>}
    </>
  );
}

const HOW: Record<string, string> = {
  exact: "by name",
  fuzzy: "similar name",
  content: "by content",
  given: "chosen",
};

function Confidence({ column, changed }: { column: MappedColumn; changed: boolean }) {
  if (changed) return <span className="text-xs text-ink-2">chosen by you</span>;
  if (column.target === null) return <span className="text-xs text-ink-3">No match</span>;
  const sure = Math.round(100 * column.confidence);
  return (
    <div title={HOW[column.how] ?? column.how}>
      <div className="flex items-center gap-2">
        <div className="h-1.5 w-12 overflow-hidden rounded-full bg-line" aria-hidden>
          <div
            className={cn("h-full", sure >= 90 ? "bg-done" : "bg-not-found")}
            style={{ width: `${sure}%` }}
          />
        </div>
        <span className="text-xs">{sure} %</span>
      </div>
      <span className="block text-xs text-ink-3">{HOW[column.how] ?? column.how}</span>
    </div>
  );
}

function Hint({ children }: { children: React.ReactNode }) {
  return (
    <p
      role="status"
      className="flex gap-2 rounded-md border border-not-found/30 bg-not-found-bg px-3 py-2 text-sm text-not-found"
    >
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span>{children}</span>
    </p>
  );
}
