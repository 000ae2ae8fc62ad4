import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Input, Select, Textarea } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { toast } from "../../components/toast";
import { client, ok, type Schemas } from "../../lib/api";
import { fieldLabel } from "../../lib/labels";

type Full = Schemas["FullProduct"];

const TEXTS = ["title", "brand", "category"] as const;
const MORE = ["identifiers.gtin", "identifiers.mpn", "specifications.material", "metadata.url"] as const;
const STATES = ["in_stock", "out_of_stock", "limited", "preorder", "backorder"];

/** Change fields of a product by hand; imports leave them as they are. */
export function EditProduct({ product, onClose }: { product: Full; onClose: () => void }) {
  const queries = useQueryClient();
  const [first] = useState(() => valuesOf(product));
  const save = async (form: FormData) => {
    const fields: Record<string, string | null> = {};
    for (const [name, before] of Object.entries(first)) {
      const now = String(form.get(name) ?? "").trim();
      if (now !== before) fields[name] = now || null;
    }
    if (Object.keys(fields).length > 0) {
      await ok(
        client.PATCH("/api/products/{product_id}", {
          params: { path: { product_id: product.id } },
          body: { fields, version: product.version },
        }),
      );
      toast.success("Saved. Imports leave the edited fields as they are.");
      await queries.invalidateQueries({ queryKey: ["products"] });
    }
    onClose();
  };
  const text = (name: string) => (
    <Field key={name} label={fieldLabel(name)} {...(kept(product, name) ? { hint: "Edited before" } : {})}>
      {(ids) => <Input {...ids} name={name} defaultValue={first[name]} />}
    </Field>
  );
  return (
    <FormDialog
      title="Edit product"
      description="Imports do not change edited fields, until you undo the edit in the history."
      action="Save"
      onClose={onClose}
      onSave={save}
    >
      {TEXTS.map(text)}
      <div className="grid grid-cols-[2fr_1fr_1fr] gap-3">
        <Field label="Price">
          {(ids) => (
            <Input {...ids} name="price.amount" inputMode="decimal" defaultValue={first["price.amount"]} />
          )}
        </Field>
        <Field label="Currency">
          {(ids) => (
            <Input {...ids} name="price.currency" maxLength={3} defaultValue={first["price.currency"]} />
          )}
        </Field>
        <Field label="Unit">
          {(ids) => <Input {...ids} name="price.unit" defaultValue={first["price.unit"]} />}
        </Field>
      </div>
      <div className="grid grid-cols-2 gap-3">
        <Field label="Availability">
          {(ids) => (
            <Select {...ids} name="availability.status" defaultValue={first["availability.status"]}>
              <option value="">Unknown</option>
              {STATES.map((one) => (
                <option key={one} value={one}>
                  {one.replaceAll("_", " ")}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Stock">
          {(ids) => (
            <Input
              {...ids}
              name="availability.quantity"
              inputMode="numeric"
              defaultValue={first["availability.quantity"]}
            />
          )}
        </Field>
      </div>
      <Field label="Status">
        {(ids) => (
          <Select {...ids} name="published" defaultValue={first.published}>
            <option value="true">Published</option>
            <option value="false">Unpublished</option>
          </Select>
        )}
      </Field>
      {MORE.map(text)}
      <Field label="Description">
        {(ids) => <Textarea {...ids} name="description" rows={4} defaultValue={first.description} />}
      </Field>
    </FormDialog>
  );
}

function kept(product: Full, name: string): boolean {
  return product.keptFields.includes(name);
}

function valuesOf(product: Full): Record<string, string> {
  const fields = [
    ...TEXTS,
    ...MORE,
    "description",
    "price.amount",
    "price.currency",
    "price.unit",
    "availability.status",
    "availability.quantity",
  ];
  const values = Object.fromEntries(fields.map((name) => [name, valueAt(product.product, name)]));
  return { ...values, published: String(product.status === "published") };
}

function valueAt(product: unknown, path: string): string {
  let found = product;
  for (const part of path.split(".")) found = (found as Record<string, unknown> | undefined)?.[part];
  return typeof found === "string" || typeof found === "number" ? String(found) : "";
}
