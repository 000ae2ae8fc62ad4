import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FilterX, PackageOpen } from "lucide-react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Page } from "../../components/page";
import { Picture, pictureOf } from "../../components/picture";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import { gtin } from "../../lib/labels";
import { filterOf, type ProductsSearch, sortOf, textsOf } from "../../lib/products";
import { ExportProducts } from "./export";
import { FilterBar } from "./filter-bar";
import { priceForUnit } from "./price";

/** The catalog: what files have become. */
export default function Products() {
  const search = useSearch({ from: "/inside/products" });
  const navigate = useNavigate();
  const filter = filterOf(search);
  const order = sortOf(search);
  const products = useInfiniteQuery({
    queryKey: ["products", "list", filter, order],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/products", {
          params: { query: { ...filter, ...order, pageSize: 50, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const rows = products.data?.pages.flatMap((page) => page.items) ?? [];
  const pictured = rows.some((one) => one.image);
  const filtered = Object.keys(filter).length > 0;
  const go = (next: ProductsSearch) => void navigate({ to: "/products", search: next, replace: true });
  return (
    <Page
      title="Products"
      lead="All products, with the origin of each value."
      actions={<ExportProducts filter={textsOf(filter)} />}
    >
      <FilterBar search={search} go={go} />
      <List
        query={products}
        rows={rows.length}
        empty={
          filtered ? (
            <EmptyState icon={FilterX} title="No product matches" />
          ) : (
            <EmptyState
              icon={PackageOpen}
              title="The catalog is empty"
              action={
                <Button asChild look="primary">
                  <Link to="/new">Import a file</Link>
                </Button>
              }
            >
              Import a file to add products. A job that only checks writes nothing.
            </EmptyState>
          )
        }
      >
        <Table
          label="Products"
          head={[
            ...(pictured ? [{ label: <span className="sr-only">Picture</span>, className: "w-9" }] : []),
            { label: "Title" },
            { label: "SKU", className: "hidden sm:table-cell" },
            { label: "GTIN", className: "hidden lg:table-cell" },
            { label: "Brand", className: "hidden md:table-cell" },
            { label: "Price", className: "text-right" },
            { label: "Availability", className: "hidden lg:table-cell" },
            { label: "Source", className: "hidden xl:table-cell" },
            { label: "Updated", className: "hidden md:table-cell" },
          ]}
        >
          {rows.map((one) => (
            <tr key={one.id} className="relative h-9 hover:bg-hover">
              {pictured && (
                <td className="py-0! pr-0!">
                  {one.image && <Picture src={pictureOf(one.id, 0, "small")} alt="" className="size-7" />}
                </td>
              )}
              <td className="w-full max-w-0 truncate sm:w-1/3">
                <Link
                  to="/products/$productId"
                  params={{ productId: one.id }}
                  className="font-medium after:absolute after:inset-0"
                  title={one.title ?? undefined}
                >
                  {one.title || <span className="text-ink-3">without a title</span>}
                </Link>
                {one.status === "unpublished" && <Badge className="ml-2">Unpublished</Badge>}
                <span className="block truncate font-mono text-xs text-ink-3 sm:hidden">{one.sku}</span>
              </td>
              <td className="hidden font-mono text-xs whitespace-nowrap sm:table-cell">{one.sku}</td>
              <td className="hidden font-mono text-xs whitespace-nowrap lg:table-cell">{gtin(one.gtin)}</td>
              <td className="hidden max-w-40 truncate md:table-cell">{one.brand}</td>
              <td className="text-right whitespace-nowrap">{priceForUnit(one.price)}</td>
              <td className="hidden whitespace-nowrap lg:table-cell">
                {one.availability?.replaceAll("_", " ")}
              </td>
              <td className="hidden max-w-32 truncate text-ink-2 xl:table-cell">{one.source}</td>
              <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
                <Time at={one.updatedAt} />
              </td>
            </tr>
          ))}
        </Table>
      </List>
    </Page>
  );
}
