import { ExportAs } from "../../components/export-as";
import { VARIANT_SHAPES } from "../../lib/shop-formats";
import { useTemplates } from "../../lib/templates";

/** The products that match, as a file; with the columns of a template, too. */
export function ExportProducts({ filter }: { filter: Record<string, string> }) {
  const templates = useTemplates();
  const more = (templates.data?.items ?? []).map((one) => ({
    label: one.name,
    given: { template: one.name },
  }));
  return (
    <ExportAs
      path="/api/products/export"
      name="products"
      filter={filter}
      shops
      more={[...more, ...VARIANT_SHAPES]}
    />
  );
}
