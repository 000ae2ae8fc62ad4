import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ErrorNote } from "../../../components/error-note";
import { Field, Input, Select } from "../../../components/field";
import { fieldsQuery } from "../../../lib/mapping";
import { ColumnRules } from "./columns";
import { errorAt, type Profile } from "./draft";
import { FieldSet } from "./field-set";
import { ValueWords } from "./words";

interface Props {
  profile: Profile;
  readOnly: boolean;
  error: unknown;
  onChange: (profile: Profile) => void;
}

const GUARD = 50;

/** Settings of a profile; each error is shown at its setting. */
export function ProfileForm({ profile, readOnly, error, onChange }: Props) {
  const fields = useQuery(fieldsQuery);
  const known = fields.data?.items ?? [];
  const set = (change: Partial<Profile>) => onChange({ ...profile, ...change });
  const text = (name: "currency" | "weight_unit" | "length_unit", label: string, hint: string) => (
    <Field label={label} hint={hint} error={errorAt(error, name)}>
      {(ids) => (
        <Input
          {...ids}
          value={profile[name] ?? ""}
          onChange={(event) => set({ [name]: event.target.value.trim() || null })}
        />
      )}
    </Field>
  );
  return (
    // A disabled fieldset makes all controls inside read-only.
    <fieldset disabled={readOnly} className="min-w-0 space-y-6">
      {fields.error && <ErrorNote error={fields.error} />}
      <Section title="Products">
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Source" hint="The supplier that products belong to." error={errorAt(error, "source")}>
            {(ids) => (
              <Input
                {...ids}
                value={profile.source ?? ""}
                onChange={(event) => set({ source: event.target.value })}
              />
            )}
          </Field>
          <Options
            label="Rows are the same product if they share"
            value={profile.key ?? "sku"}
            error={errorAt(error, "key")}
            onChange={(key) => set({ key: key as Profile["key"] })}
            options={[
              ["sku", "the SKU"],
              ["gtin", "the GTIN"],
              ["sourceId", "the supplier's own id"],
            ]}
          />
          <Options
            label="Of several rows with one product, keep"
            value={profile.winner ?? "first"}
            error={errorAt(error, "winner")}
            onChange={(winner) => set({ winner: winner as Profile["winner"] })}
            options={[
              ["first", "the first"],
              ["last", "the last"],
              ["most_complete", "the most complete"],
            ]}
          />
          <Options
            label="New columns and values with errors"
            value={profile.contract ?? "evolve"}
            error={errorAt(error, "contract")}
            onChange={(contract) => set({ contract: contract as Profile["contract"] })}
            options={[
              ["evolve", "New columns are kept as custom fields"],
              ["freeze", "A file with new columns is refused"],
              ["discard_row", "Rows with either are left out"],
              ["discard_value", "New columns and these values are left out"],
            ]}
          />
          <Field
            label="Hold back price changes above"
            hint="In percent, for known products. 0 holds back nothing."
            error={errorAt(error, "price_guard")}
          >
            {(ids) => (
              <Input
                {...ids}
                type="number"
                min={0}
                max={100_000}
                step="any"
                value={profile.price_guard ?? GUARD}
                onChange={(event) => set({ price_guard: Number(event.target.value) })}
              />
            )}
          </Field>
        </div>
      </Section>
      <Section title="Numbers, dates and units" hint="Used for cells that do not state their own.">
        <div className="grid gap-3 sm:grid-cols-2">
          <Options
            label="Decimal separator"
            value={profile.decimal ?? ""}
            error={errorAt(error, "decimal")}
            onChange={(next) => set({ decimal: (next || null) as Profile["decimal"] })}
            options={[
              ["", "Detect"],
              ["comma", "Comma: 1.234,50"],
              ["point", "Point: 1,234.50"],
            ]}
          />
          <Options
            label="Dates"
            value={profile.dates ?? ""}
            error={errorAt(error, "dates")}
            onChange={(next) => set({ dates: (next || null) as Profile["dates"] })}
            options={[
              ["", "Detect"],
              ["dmy", "Day first: 31.12.2026"],
              ["mdy", "Month first: 12/31/2026"],
            ]}
          />
          {text("currency", "Currency", "Three letters, such as EUR.")}
          {text("weight_unit", "Unit of weights", "Such as kg.")}
          {text("length_unit", "Unit of lengths", "Such as mm.")}
        </div>
      </Section>
      <Section title="Columns" hint="Which field each column of the file fills.">
        <ColumnRules profile={profile} fields={known} readOnly={readOnly} error={error} onChange={onChange} />
      </Section>
      <Section title="Required fields" hint="A row without one of these is an error.">
        <FieldSet
          label="Required field"
          chosen={profile.required ?? null}
          fields={known}
          usual="Title and an id, as for files without a profile"
          error={errorAt(error, "required")}
          readOnly={readOnly}
          onChange={(required) => set({ required })}
        />
      </Section>
      <Section
        title="Strict fields"
        hint="A value of these that cannot be read makes the row an error. Other fields are left empty with a warning."
      >
        <FieldSet
          label="Strict field"
          chosen={profile.strict ?? []}
          fields={known}
          all
          error={errorAt(error, "strict")}
          readOnly={readOnly}
          onChange={(strict) => set({ strict: strict ?? [] })}
        />
      </Section>
      <Section title="Value words" hint="Words in the file, and the text that is read instead.">
        <ValueWords profile={profile} fields={known} readOnly={readOnly} error={error} onChange={onChange} />
      </Section>
      {profile.rules && (
        <p className="text-sm text-ink-2">
          The profile also has rules (JSON Schema). They are kept; edit them in the TOML view.
        </p>
      )}
    </fieldset>
  );
}

function Section({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="space-y-3">
      <div>
        <h3 className="text-base font-semibold">{title}</h3>
        {hint && <p className="text-sm text-ink-2">{hint}</p>}
      </div>
      {children}
    </section>
  );
}

interface OptionsProps {
  label: string;
  value: string;
  options: [string, string][];
  error: string | undefined;
  onChange: (value: string) => void;
}

export function Options({ label, value, options, error, onChange }: OptionsProps) {
  return (
    <Field label={label} error={error}>
      {(ids) => (
        <Select {...ids} value={value} onChange={(event) => onChange(event.target.value)}>
          {options.map(([option, shown]) => (
            <option key={option} value={option}>
              {shown}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
