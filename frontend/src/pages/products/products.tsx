import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FilterX, PackageOpen, Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { Input, Select } from "../../components/field";
import { Page } from "../../components/page";
import { Picture, pictureOf } from "../../components/picture";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import { gtin } from "../../lib/labels";
import { ExportProducts } from "./export";
import { price } from "./price";

/** The catalog: what files have become. */
export default function Products() {
  const search = useSearch({ from: "/inside/products" });
  const navigate = useNavigate();
  const [typed, setTyped] = useState(search.q ?? "");
  const filter = {
    q: search.q ?? "",
    source: search.source ?? "",
    ...(search.status === "published" || search.status === "unpublished"
      ? { status: search.status as "published" | "unpublished" }
      : {}),
  } as const;
  const products = useInfiniteQuery({
    queryKey: ["products", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      ok(
        client.GET("/api/products", {
          params: { query: { ...filter, pageSize: 50, after: pageParam } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    placeholderData: keepPreviousData,
  });
  const rows = products.data?.pages.flatMap((page) => page.items) ?? [];
  const pictured = rows.some((one) => one.image);
  const filtered = !!(search.q || search.source || search.status);
  const go = (next: typeof search) => void navigate({ to: "/products", search: next, replace: true });
  const find = (event: FormEvent) => {
    event.preventDefault();
    go({ ...search, q: typed.trim() || undefined });
  };
  return (
    <Page
      title="Products"
      lead="All products, with the origin of each value."
      actions={<ExportProducts filter={filter} />}
    >
      <form onSubmit={find} role="search" className="mb-3 flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label="Search products"
          placeholder="Title, SKU or GTIN"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="w-full sm:w-72"
        />
        <Select
          aria-label="Status"
          className="w-36"
          value={search.status ?? ""}
          onChange={(event) => go({ ...search, status: event.target.value || undefined })}
        >
          <option value="">Any status</option>
          <option value="published">Published</option>
          <option value="unpublished">Unpublished</option>
        </Select>
        <Button type="submit">
          <Search aria-hidden /> Search
        </Button>
        {filtered && (
          <Button
            look="quiet"
            onClick={() => {
              setTyped("");
              go({});
            }}
          >
            <FilterX aria-hidden /> All products
          </Button>
        )}
      </form>
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
              <td className="text-right whitespace-nowrap">{price(one.price)}</td>
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
