import { useQuery } from "@tanstack/react-query";
import { client, ok } from "../lib/api";
import { INTENTS } from "../lib/intents";
import { Field, Input, Select } from "./field";

interface Given {
  profile?: string | null;
  config?: Record<string, unknown>;
}

/** How files that arrive by themselves are imported: by which profile, what is written, whose they are. */
export function ImportFields({ given }: { given?: Given }) {
  const profiles = useQuery({
    queryKey: ["profiles", "names"],
    queryFn: ({ signal }) => ok(client.GET("/api/profiles", { signal })),
  });
  const names = (profiles.data?.items ?? []).map((one) => one.name);
  if (given?.profile && !names.includes(given.profile)) names.unshift(given.profile);
  return (
    <>
      <Field label="Profile">
        {(ids) => (
          // The names come later than the form: a new list is a new control.
          <Select {...ids} key={names.join()} name="profile" defaultValue={given?.profile ?? ""}>
            <option value="">Detect columns</option>
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Products">
        {(ids) => (
          <Select {...ids} name="intent" defaultValue={String(given?.config?.intent ?? "check")}>
            {INTENTS.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Source (optional)" hint="The supplier. Files change only products of their source.">
        {(ids) => (
          <Input {...ids} name="source" maxLength={100} defaultValue={String(given?.config?.source ?? "")} />
        )}
      </Field>
    </>
  );
}

/** The job's settings as the form says; others stay as they are. */
export function importConfig(
  text: (name: string) => string,
  kept: Record<string, unknown> = {},
): Record<string, unknown> {
  const { source: _, ...others } = kept;
  return { ...others, intent: text("intent"), ...(text("source") ? { source: text("source") } : {}) };
}
