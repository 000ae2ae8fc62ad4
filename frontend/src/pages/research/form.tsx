import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Bookmark, Search, Trash2 } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { Button } from "../../components/button";
import { Checkbox, Field, Input, Select } from "../../components/field";
import { toast } from "../../components/toast";
import {
  bodyOf,
  deleteQuery,
  type ResearchBody,
  type Source,
  savedQueries,
  saveQuery,
} from "../../lib/research";

interface Props {
  sources: Source[];
  busy: boolean;
  canWrite: boolean;
  onAsk: (body: ResearchBody) => void;
}

/** What to search for, where, and at which price. Filled forms can be saved for the org. */
export function ResearchForm({ sources, busy, canWrite, onAsk }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const queries = useQueryClient();
  const saved = useQuery(savedQueries).data ?? [];
  const [filled, setFilled] = useState<{ body: ResearchBody; at: number } | null>(null);
  const given = filled?.body;
  const ask = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onAsk(bodyOf(new FormData(event.currentTarget)));
  };
  const keep = () => {
    if (!form.current?.reportValidity()) return;
    const body = bodyOf(new FormData(form.current));
    // A name is a part of an address.
    change.mutate(() => saveQuery(body.query.replaceAll("/", " ").trim().slice(0, 200), body), {
      onSuccess: () => toast.success("The query is saved for your org"),
    });
  };
  const change = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSuccess: () => queries.invalidateQueries({ queryKey: savedQueries.queryKey }),
    onError: (problem) => toast.error(problem.message),
  });
  return (
    <>
      {saved.length > 0 && (
        <ul className="mb-3 flex flex-wrap gap-2" aria-label="Saved queries">
          {saved.map((one) => (
            <li key={one.name} className="flex max-w-full items-center rounded-md border">
              <Button
                size="sm"
                look="quiet"
                className="min-w-0"
                onClick={() => setFilled({ body: one.request as ResearchBody, at: Date.now() })}
              >
                <Bookmark aria-hidden /> <span className="truncate">{one.name}</span>
              </Button>
              {canWrite && (
                <Button
                  size="icon-sm"
                  look="quiet"
                  aria-label={`Delete ${one.name}`}
                  onClick={() => change.mutate(() => deleteQuery(one.name))}
                >
                  <Trash2 aria-hidden />
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <form ref={form} key={filled?.at ?? 0} onSubmit={ask} className="space-y-3">
        <Field label="What are you looking for?" hint="Words of the title, a GTIN or a part number.">
          {(ids) => (
            <Input
              {...ids}
              name="query"
              required
              maxLength={500}
              defaultValue={given?.query}
              placeholder="M8 stainless bolts"
            />
          )}
        </Field>
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-4">
          <Field label="Price from">
            {(ids) => (
              <Input
                {...ids}
                name="min"
                type="number"
                min={0}
                step="any"
                defaultValue={text(given?.priceRange?.min)}
              />
            )}
          </Field>
          <Field label="Price to">
            {(ids) => (
              <Input
                {...ids}
                name="max"
                type="number"
                min={0}
                step="any"
                defaultValue={text(given?.priceRange?.max)}
              />
            )}
          </Field>
          <Field label="Currency">
            {(ids) => (
              <Input
                {...ids}
                name="currency"
                maxLength={3}
                pattern="[A-Za-z]{3}"
                defaultValue={given?.priceRange?.currency}
                placeholder="EUR"
              />
            )}
          </Field>
          <Field label="Region">
            {(ids) => (
              <Input
                {...ids}
                name="region"
                maxLength={100}
                defaultValue={given?.region}
                placeholder="Germany"
              />
            )}
          </Field>
          <Field label="Categories" hint="Separated by commas.">
            {(ids) => <Input {...ids} name="categories" defaultValue={given?.categories?.join(", ")} />}
          </Field>
          <Field label="Suppliers" hint="Separated by commas.">
            {(ids) => <Input {...ids} name="suppliers" defaultValue={given?.suppliers?.join(", ")} />}
          </Field>
          <Field label="Priority">
            {(ids) => (
              <Select {...ids} name="priority" defaultValue={text(given?.priority) || "medium"}>
                <option value="high">High</option>
                <option value="medium">Medium</option>
                <option value="low">Low</option>
              </Select>
            )}
          </Field>
          <Field label="Webhook URL" hint="Called when the request ends.">
            {(ids) => <Input {...ids} name="webhookUrl" type="url" defaultValue={text(given?.webhookUrl)} />}
          </Field>
        </div>
        <fieldset>
          <legend className="text-sm font-medium">Sources</legend>
          <p className="text-xs text-ink-3">None selected means all.</p>
          <div className="mt-1 flex flex-wrap gap-x-4 gap-y-1">
            {sources.map((one) => (
              <label key={one.id} className="flex min-h-6 items-center gap-2 text-sm">
                <Checkbox
                  name="sources"
                  value={one.name}
                  defaultChecked={given?.sources?.includes(one.name) ?? false}
                />
                {one.title}
              </label>
            ))}
          </div>
        </fieldset>
        <div className="flex flex-wrap gap-2">
          <Button look="primary" type="submit" busy={busy} disabled={!canWrite}>
            {!busy && <Search aria-hidden />} Search all sources
          </Button>
          <Button onClick={keep}>
            <Bookmark aria-hidden /> Save the query
          </Button>
        </div>
      </form>
    </>
  );
}

function text(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}
