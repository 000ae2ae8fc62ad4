import { Checkbox, Field, Input, Textarea } from "../../components/field";
import { KINDS, type WatcherKind } from "../../lib/watchers";

/** What a kind of place needs to sign in. */
export function CredentialFields({ kind }: { kind: WatcherKind }) {
  return KINDS[kind].fields.map((field) => (
    <Field key={field.name} label={field.optional ? `${field.label} (optional)` : field.label}>
      {(ids) =>
        field.long ? (
          <Textarea {...ids} name={field.name} rows={3} spellCheck={false} autoComplete="off" />
        ) : (
          <Input
            {...ids}
            name={field.name}
            type={field.secret ? "password" : "text"}
            required={!field.optional}
            autoComplete="off"
          />
        )
      }
    </Field>
  ));
}

/** The choice not to test a place. */
export function Untested() {
  return (
    <label className="flex items-center gap-2 text-sm">
      <Checkbox name="untested" /> Store without a test, for a place that cannot be reached now
    </label>
  );
}
