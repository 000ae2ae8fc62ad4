import { Card } from "../../components/page";
import { Facts, Table } from "../../components/table";
import { furtherPrices, measuresOf, tiersOf, variantsOf } from "./details";

type Doc = Record<string, unknown>;

/** Further prices, tiers, measures and variants, those that the product has. */
export function ProductParts({ product }: { product: Doc }) {
  const facts = [...furtherPrices(product), ...measuresOf(product)];
  const tiers = tiersOf(product);
  const variants = variantsOf(product);
  return (
    <>
      {facts.length > 0 && (
        <section>
          <h2 className="mb-2 text-base font-semibold">Prices, units and measures</h2>
          <Facts facts={facts} />
        </section>
      )}
      {tiers.length > 0 && (
        <section>
          <h2 className="mb-2 text-base font-semibold">Price tiers</h2>
          <Card className="overflow-hidden">
            <Table
              label="Price tiers"
              head={[{ label: "From quantity" }, { label: "Price", className: "text-right" }]}
            >
              {tiers.map((one) => (
                <tr key={one.from}>
                  <td className="tabular-nums">{one.from}</td>
                  <td className="text-right tabular-nums">{one.price}</td>
                </tr>
              ))}
            </Table>
          </Card>
        </section>
      )}
      {variants.length > 0 && (
        <section>
          <h2 className="mb-2 text-base font-semibold">Variants ({variants.length})</h2>
          <Card className="max-h-96 overflow-auto">
            <Table
              label="Variants"
              head={[
                { label: "Options" },
                { label: "SKU" },
                { label: "GTIN", className: "max-sm:hidden" },
                { label: "Stock", className: "max-sm:hidden" },
                { label: "Price", className: "text-right" },
              ]}
            >
              {variants.map((one, place) => (
                <tr key={place}>
                  <td>{one.name}</td>
                  <td className="font-mono text-xs">{one.sku}</td>
                  <td className="font-mono text-xs max-sm:hidden">{one.gtin}</td>
                  <td className="max-sm:hidden">{one.stock}</td>
                  <td className="text-right whitespace-nowrap tabular-nums">{one.price}</td>
                </tr>
              ))}
            </Table>
          </Card>
        </section>
      )}
    </>
  );
}
