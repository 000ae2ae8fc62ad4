import { useQuery } from "@tanstack/react-query";
import { Button } from "../../components/button";
import { client, ok, type Preview } from "../../lib/api";
import { plural } from "../../lib/format";
import type { Draft } from "./draft";

/** The sources of products in the catalog, to choose from; those of shops and crawls have a colon. */
export function SourceOptions({ id }: { id: string }) {
  const values = useQuery({
    queryKey: ["products", "filters", {}],
    queryFn: ({ signal }) => ok(client.GET("/api/products/filters", { signal })),
    staleTime: 30_000,
  }).data;
  return (
    <datalist id={id}>
      {values?.sources
        .filter((one) => !one.value.includes(":"))
        .map((one) => (
          <option key={one.value} value={one.value} />
        ))}
    </datalist>
  );
}

/** An update of a supplier's list under another name would create its products a second time. */
export function EarlierSource({
  preview,
  change,
}: {
  preview: Preview;
  change: (part: Partial<Draft>) => void;
}) {
  const found = preview.earlierSource;
  if (!found) return null;
  return (
    <section
      role="status"
      aria-label="Is this a list of a known supplier?"
      className="rounded-md border border-not-found/40 bg-not-found-bg px-4 py-3 text-sm"
    >
      <h2 className="font-semibold text-not-found">Is this a list of “{found.source}”?</h2>
      <p className="mt-1">
        All rows would be new products of the source “{preview.source}”, but{" "}
        {plural(found.rows, "row has", "rows have")} the id and the title or GTIN of a product of “
        {found.source}”. If the file is from that supplier, use its source, so that the rows update these
        products.
      </p>
      <Button size="sm" className="mt-2" onClick={() => change({ source: found.source })}>
        Use the source “{found.source}”
      </Button>
    </section>
  );
}
