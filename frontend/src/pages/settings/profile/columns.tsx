import { ChevronDown, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../components/button";
import { Field, Input } from "../../../components/field";
import { CUSTOM, TargetSelect } from "../../../components/mapping-table";
import { doubledFields, freeTarget, type MappedColumn, type ProductField } from "../../../lib/mapping";
import { type ColumnRule, errorAt, type Profile, removeColumn, setColumn } from "./draft";
import { Options } from "./form";

interface Props {
  profile: Profile;
  fields: ProductField[];
  readOnly: boolean;
  error: unknown;
  onChange: (profile: Profile) => void;
}

/** The columns of the file, the field each fills, and how its cells are read. */
export function ColumnRules({ profile, fields, readOnly, error, onChange }: Props) {
  const [fresh, setFresh] = useState("");
  const rules = profile.columns ?? {};
  const columns = Object.entries(rules).map(([column, rule]) => asMapped(column, rule));
  const doubled = doubledFields(columns, {});
  const name = fresh.trim();
  return (
    <div className="space-y-2">
      <ul className="divide-y rounded-lg border">
        {columns.map((column) => {
          const wrong = errorAt(error, "columns", column.column, "target");
          return (
            <li key={column.column} className="space-y-2 px-3 py-2">
              <div className="flex flex-wrap items-start gap-2">
                <span className="min-w-0 flex-1 basis-40 pt-1 text-sm font-medium break-words">
                  {column.column}
                </span>
                <div className="w-64 max-w-full">
                  <TargetSelect
                    column={column}
                    value={column.target}
                    fields={fields}
                    conflict={column.target !== null && doubled.includes(column.target)}
                    onChange={(one, value) => {
                      const target = value === CUSTOM ? null : freeTarget(value, one, columns, {}, fields);
                      onChange(setColumn(profile, one.column, { target }));
                    }}
                  />
                </div>
                {!readOnly && (
                  <Button
                    look="quiet"
                    size="icon"
                    aria-label={`Remove the column ${column.column}`}
                    onClick={() => onChange(removeColumn(profile, column.column))}
                  >
                    <X aria-hidden />
                  </Button>
                )}
              </div>
              <Reading
                column={column.column}
                rule={rules[column.column] as ColumnRule}
                error={error}
                onChange={(change) => onChange(setColumn(profile, column.column, change))}
              />
              {wrong && (
                <p role="alert" className="text-xs text-error">
                  {wrong}
                </p>
              )}
            </li>
          );
        })}
        {columns.length === 0 && <li className="px-3 py-2 text-sm text-ink-2">No columns</li>}
      </ul>
      {!readOnly && (
        <div className="flex flex-wrap gap-2">
          <Input
            aria-label="Name of the new column"
            placeholder="Name as in the file"
            className="w-64"
            value={fresh}
            onChange={(event) => setFresh(event.target.value)}
          />
          <Button
            disabled={!name || name in rules}
            onClick={() => {
              onChange(setColumn(profile, name, { target: null }));
              setFresh("");
            }}
          >
            Add column
          </Button>
        </div>
      )}
    </div>
  );
}

function asMapped(column: string, rule: ColumnRule): MappedColumn {
  const target = rule.target ?? null;
  return { column, target, confidence: 1, how: "given", fill: 1, samples: [], alternatives: [] };
}

interface ReadingProps {
  column: string;
  rule: ColumnRule;
  error: unknown;
  onChange: (change: Partial<ColumnRule>) => void;
}

const SETTINGS = ["decimal", "dates", "currency", "unit", "tax_included"] as const;

/** How the cells of one column are read, where that differs from the profile. */
function Reading({ column, rule, error, onChange }: ReadingProps) {
  const at = (name: string) => errorAt(error, "columns", column, name);
  const own = SETTINGS.filter((name) => rule[name] !== null && rule[name] !== undefined);
  const isWrong = SETTINGS.some((name) => at(name));
  const [opened, setOpened] = useState(false);
  const isOpen = opened || isWrong;
  const shown = own.map((name) => (name === "tax_included" ? (rule[name] ? "gross" : "net") : rule[name]));
  return (
    <div>
      <Button
        look="quiet"
        size="sm"
        aria-expanded={isOpen}
        className="-ml-2"
        onClick={() => setOpened(!isOpen)}
      >
        <ChevronDown aria-hidden className={isOpen ? "rotate-180" : undefined} />
        Values of {column}
        {shown.length > 0 && `: ${shown.join(", ")}`}
      </Button>
      {isOpen && (
        <div className="mt-1 grid gap-3 sm:grid-cols-3">
          <Field label="Currency" error={at("currency")}>
            {(ids) => (
              <Input
                {...ids}
                value={rule.currency ?? ""}
                onChange={(event) => onChange({ currency: event.target.value.trim() || null })}
              />
            )}
          </Field>
          <Field label="Unit" error={at("unit")}>
            {(ids) => (
              <Input
                {...ids}
                value={rule.unit ?? ""}
                onChange={(event) => onChange({ unit: event.target.value.trim() || null })}
              />
            )}
          </Field>
          <Options
            label="Tax"
            value={rule.tax_included == null ? "" : String(rule.tax_included)}
            error={at("tax_included")}
            onChange={(next) => onChange({ tax_included: next === "" ? null : next === "true" })}
            options={[
              ["", "As in the cells"],
              ["true", "Included (gross)"],
              ["false", "Not included (net)"],
            ]}
          />
          <Options
            label="Decimal separator"
            value={rule.decimal ?? ""}
            error={at("decimal")}
            onChange={(next) => onChange({ decimal: (next || null) as ColumnRule["decimal"] })}
            options={[
              ["", "As in the profile"],
              ["comma", "Comma"],
              ["point", "Point"],
            ]}
          />
          <Options
            label="Dates"
            value={rule.dates ?? ""}
            error={at("dates")}
            onChange={(next) => onChange({ dates: (next || null) as ColumnRule["dates"] })}
            options={[
              ["", "As in the profile"],
              ["dmy", "Day first"],
              ["mdy", "Month first"],
            ]}
          />
        </div>
      )}
    </div>
  );
}
