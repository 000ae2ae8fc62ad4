import { ExportAs } from "../../components/export-as";

/** The products that match, as a file. */
export function ExportProducts({ filter }: { filter: Record<string, string> }) {
  return <ExportAs path="/api/products/export" name="products" filter={filter} />;
}
