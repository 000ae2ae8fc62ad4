import { Field, Input } from "../../components/field";
import type { ProviderKind } from "../../lib/shops";

/** A field for each credential of the provider. */
export function CredentialInputs({ kind }: { kind: ProviderKind }) {
  return (
    <>
      {kind.credentialFields.map((field) => (
        <Field
          key={`${kind.key} ${field.name}`}
          label={field.required ? field.label : `${field.label} (optional)`}
          hint={field.help || undefined}
        >
          {(ids) => (
            <Input
              {...ids}
              name={`credential-${field.name}`}
              type="password"
              required={field.required}
              maxLength={500}
              autoComplete="off"
              spellCheck={false}
            />
          )}
        </Field>
      ))}
    </>
  );
}

export function credentialsOf(kind: ProviderKind, form: FormData): Record<string, string> {
  const given = kind.credentialFields.map((field) => [
    field.name,
    String(form.get(`credential-${field.name}`) ?? "").trim(),
  ]);
  return Object.fromEntries(given.filter(([, value]) => value));
}
