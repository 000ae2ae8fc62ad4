import { useQueryClient } from "@tanstack/react-query";
import { Save } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { MappingTable } from "../../components/mapping-table";
import { toast } from "../../components/toast";
import { type Preview, send } from "../../lib/api";
import { cn } from "../../lib/cn";
import { fieldLabel } from "../../lib/labels";
import { type MappedColumn, targetOf } from "../../lib/mapping";
import type { Draft } from "./draft";
import { SourceOptions } from "./known-source";

interface Props {
  columns: MappedColumn[];
  preview: Preview;
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

export function MappingStep({ columns, preview, draft, change }: Props) {
  const [typo, setTypo] = useState<string | null>(null);
  const profile = preview.profile as { name?: string; from?: string; version?: number };
  return (
    <div className="space-y-4">
      <p className="text-sm text-ink-2">
        {profile.from && profile.from !== "proposed"
          ? `Mapped by the profile “${profile.name}”, version ${profile.version}.`
          : "Proposed from column names and content. Correct what is wrong."}
      </p>
      {preview.questions.map((one) => (
        <Question
          key={`${one.code} ${one.target ?? ""}`}
          question={one as unknown as Asked}
          onChoose={(column, target) => change({ mapping: { ...draft.mapping, [column]: target } })}
        />
      ))}
      {!draft.currency && lacksCurrency(preview) && (
        <CurrencyQuestion onChoose={(currency) => change({ currency })} />
      )}
      <MappingTable columns={columns} mapping={draft.mapping} onChange={(mapping) => change({ mapping })} />
      {preview.notes.map((note) => (
        <p key={note} className="text-sm text-ink-2">
          {note}
        </p>
      ))}
      <div className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        <Field
          label="Currency"
          hint="Used where the file has none."
          error={typo ? `“${typo}” is not a currency code such as EUR or USD.` : undefined}
        >
          {(ids) => (
            <Input
              {...ids}
              key={draft.currency}
              placeholder="Detected"
              maxLength={3}
              defaultValue={draft.currency ?? ""}
              onBlur={(event) => {
                const code = event.target.value.trim().toUpperCase();
                const good = code === "" || CURRENCIES.has(code);
                setTypo(good ? null : code);
                if (good) change({ currency: code || undefined });
              }}
            />
          )}
        </Field>
        <Field label="Decimals">
          {(ids) => (
            <Select
              {...ids}
              value={draft.decimal ?? ""}
              onChange={(event) => change({ decimal: (event.target.value || undefined) as Draft["decimal"] })}
            >
              <option value="">Detected</option>
              <option value="comma">1.234,50</option>
              <option value="point">1,234.50</option>
            </Select>
          )}
        </Field>
        <Field label="Dates">
          {(ids) => (
            <Select
              {...ids}
              value={draft.dates ?? ""}
              onChange={(event) => change({ dates: (event.target.value || undefined) as Draft["dates"] })}
            >
              <option value="">Detected</option>
              <option value="dmy">Day first</option>
              <option value="mdy">Month first</option>
            </Select>
          )}
        </Field>
        <Field label="Source" hint="The supplier of the products. Rows change only products of this source.">
          {(ids) => (
            <>
              <Input
                {...ids}
                key={draft.source ?? preview.source}
                list={`${ids.id}-known`}
                placeholder="file"
                maxLength={100}
                defaultValue={draft.source ?? (preview.source === "file" ? "" : preview.source)}
                onBlur={(event) => change({ source: event.target.value.trim() })}
              />
              <SourceOptions id={`${ids.id}-known`} />
            </>
          )}
        </Field>
      </div>
      <SaveProfile columns={columns} draft={draft} />
    </div>
  );
}

const CURRENCIES = new Set(Intl.supportedValuesOf("currency"));

interface Asked {
  message: string;
  /** The field that no column is mapped to; without it, the products have no name at all. */
  target?: string;
  optional?: boolean;
  candidates: { column: string; samples: string[]; suggested: string }[];
}

/** A field that nearly every file has is mapped to no column: which one contains it? */
function Question({
  question,
  onChoose,
}: {
  question: Asked;
  onChoose: (column: string, target: string) => void;
}) {
  const name = called(question.target ?? "");
  return (
    <section
      role="alert"
      aria-label={question.target ? `Which column is the ${name}?` : "A question about the columns"}
      className={cn(
        "rounded-md border px-4 py-3 text-sm",
        question.optional ? "border-not-found/40 bg-not-found-bg" : "border-error/40 bg-error-bg",
      )}
    >
      <h2 className={cn("font-semibold", question.optional ? "text-not-found" : "text-error")}>
        {question.target ? `Which column is the ${name}?` : "Which column names the products?"}
      </h2>
      <p className="mt-1">{question.message}</p>
      <ul className="mt-2 space-y-1.5">
        {question.candidates.slice(0, 5).map((one) => (
          <li key={one.column} className="flex flex-wrap items-center gap-2">
            <strong>{one.column}</strong>
            <span className="min-w-0 truncate text-ink-2">{one.samples.join(", ")}</span>
            {(question.target ? [question.target] : ["title", "identifiers.sku"]).map((target) => (
              <Button key={target} size="sm" onClick={() => onChoose(one.column, target)}>
                Use as {called(target)}
              </Button>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function lacksCurrency(preview: Preview): boolean {
  return preview.rows.some((row) => row.problems.some((one) => one.code === "CURRENCY_MISSING"));
}

/** Neither cells nor column names tell the currency of the prices. */
function CurrencyQuestion({ onChoose }: { onChoose: (currency: string) => void }) {
  return (
    <section
      role="alert"
      aria-label="Which currency are the prices in?"
      className="rounded-md border border-not-found/40 bg-not-found-bg px-4 py-3 text-sm"
    >
      <h2 className="font-semibold text-not-found">Which currency are the prices in?</h2>
      <p className="mt-1">The file does not say. Choose one, or type another code under Currency below.</p>
      <div className="mt-2 flex flex-wrap gap-2">
        {["EUR", "USD", "GBP", "CHF", "PLN"].map((one) => (
          <Button key={one} size="sm" onClick={() => onChoose(one)}>
            {one}
          </Button>
        ))}
      </div>
    </section>
  );
}

/** A field within a sentence: “price”, “SKU”. */
function called(target: string): string {
  const name = fieldLabel(target);
  return name === name.toUpperCase() ? name : name.toLowerCase();
}

/** The supplier's next file, with these columns, is mapped by itself. */
function SaveProfile({ columns, draft }: { columns: MappedColumn[]; draft: Draft }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("profile")).trim();
    if (!name) return;
    setBusy(true);
    setError(null);
    const rules = Object.fromEntries(
      columns.map((column) => [column.column, { target: targetOf(column, draft.mapping) }]),
    );
    try {
      await send(`/api/profiles/${encodeURIComponent(name)}`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({
          columns: rules,
          ...(draft.decimal && { decimal: draft.decimal }),
          ...(draft.dates && { dates: draft.dates }),
          ...(draft.currency && { currency: draft.currency }),
          ...(draft.source && { source: draft.source }),
        }),
      });
      void queries.invalidateQueries({ queryKey: ["profiles"] });
      toast.success(`Saved as profile “${name}”. Files with these columns use it automatically.`);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={save} className="flex flex-wrap items-end gap-2">
      <Field label="Save this mapping for the supplier" className="w-64">
        {(ids) => <Input {...ids} name="profile" placeholder="Name of the profile" maxLength={100} />}
      </Field>
      <Button type="submit" busy={busy}>
        {!busy && <Save aria-hidden />} Save profile
      </Button>
      {error !== null && <ErrorNote error={error} className="basis-full" />}
    </form>
  );
}
