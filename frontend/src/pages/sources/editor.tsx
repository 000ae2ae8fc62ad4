import { Field, Textarea } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { toast } from "../../components/toast";
import { type Source, saveSource } from "../../lib/research";

const EXAMPLE = `name = "acme"
title = "Acme parts"
url = "https://api.example.com/search"

[parameters]
q = "{query}"

[auth]
kind = "bearer"

[paging]
kind = "page"
parameter = "page"
size = 50

[response]
format = "json"
records = "results"

[mapping]
sourceId = "sku"
title = "name"
brand = "brand"
"identifiers.gtin" = "ean"
"price.amount" = "price.value"
"price.currency" = "price.currency"
"availability.quantity" = "stock"

[credentials]
token = ""
`;

interface Props {
  source: Source | null;
  onClose: () => void;
  onSaved: () => void;
}

/** The configuration as text. What cannot be used is refused with its line. */
export function SourceEditor({ source, onClose, onSaved }: Props) {
  return (
    <FormDialog
      title={source ? `Edit ${source.title}` : "New source"}
      description={
        source
          ? "Credentials that are left out stay as they are, unless the address changes."
          : "TOML or JSON. Credentials are stored encrypted and never shown."
      }
      action={source ? "Save" : "Create"}
      onClose={onClose}
      onSave={async (form) => {
        const saved = await saveSource(String(form.get("config")), source?.id ?? null);
        toast.success(`${saved.title} is saved. Test it next.`);
        onSaved();
      }}
    >
      <Field label="Configuration">
        {(ids) => (
          <Textarea
            {...ids}
            name="config"
            required
            spellCheck={false}
            className="h-96 font-mono text-xs"
            defaultValue={source ? JSON.stringify(source.config, null, 2) : EXAMPLE}
          />
        )}
      </Field>
    </FormDialog>
  );
}
