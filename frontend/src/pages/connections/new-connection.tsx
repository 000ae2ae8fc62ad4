import { useState } from "react";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import type { ProviderKind } from "../../lib/shops";
import { CredentialInputs, credentialsOf } from "./credentials";

interface Props {
  kinds: ProviderKind[];
  onClose: () => void;
  onMade: () => void;
}

/** Connect a shop with its credentials, or by the provider's own page where that is set up. */
export function NewConnection({ kinds, onClose, onMade }: Props) {
  const [key, setKey] = useState(kinds[0]?.key ?? "");
  const [withToken, setWithToken] = useState(false);
  const kind = kinds.find((one) => one.key === key);
  if (!kind) return null;
  const installs = kind.install && !withToken;
  const save = async (form: FormData) => {
    const name = String(form.get("name") ?? "").trim();
    const address = String(form.get("address") ?? "").trim();
    if (installs) {
      const returnTo = `${window.location.origin}/connections/install`;
      const begun = await ok(
        client.POST("/api/connections/install", { body: { name, provider: key, address, returnTo } }),
      );
      window.location.assign(begun.url);
      return;
    }
    const made = await ok(
      client.POST("/api/connections", {
        body: { name, provider: key, address, credentials: credentialsOf(kind, form) },
      }),
    );
    const tested = await ok(
      client.POST("/api/connections/{connection_id}/test", {
        params: { path: { connection_id: made.id } },
      }),
    );
    if (tested.ok) toast.success(`${made.name} is connected`);
    onMade();
  };
  return (
    <FormDialog
      title="New connection"
      action={installs ? `Continue at ${kind.title}` : "Connect and test"}
      onClose={onClose}
      onSave={save}
    >
      <Field label="Kind of shop">
        {(ids) => (
          <Select {...ids} value={key} onChange={(event) => setKey(event.target.value)}>
            {kinds.map((one) => (
              <option key={one.key} value={one.key}>
                {one.title}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Address" hint={kind.addressHelp}>
        {(ids) => (
          <Input
            {...ids}
            name="address"
            required={key !== "roastify"}
            maxLength={1000}
            autoComplete="off"
            spellCheck={false}
          />
        )}
      </Field>
      <Field label="Name (optional)" hint="A name for it in Penstock.">
        {(ids) => <Input {...ids} name="name" maxLength={200} autoComplete="off" />}
      </Field>
      {!installs && <CredentialInputs kind={kind} />}
      {kind.install && (
        <button
          type="button"
          className="text-sm text-accent underline underline-offset-2"
          onClick={() => setWithToken(!withToken)}
        >
          {withToken ? `Connect at ${kind.title} instead` : "Enter a token instead"}
        </button>
      )}
    </FormDialog>
  );
}
