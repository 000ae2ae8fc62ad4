import { useQuery } from "@tanstack/react-query";
import { FilterX, Search, X } from "lucide-react";
import { type FormEvent, useEffect, useState } from "react";
import { Button } from "../../components/button";
import { Input, Select } from "../../components/field";
import { client, ok, type Schemas } from "../../lib/api";
import { count, plural } from "../../lib/format";
import type { ProductsSearch } from "../../lib/products";
import { filterOf } from "../../lib/products";
import { jobQuery } from "../../lib/queries";

type Value = Schemas["FilterValueShape"];

const SORTS: [value: string, label: string][] = [
  ["", "Changed last"],
  ["updated", "Changed first"],
  ["title", "Title, A to Z"],
  ["-title", "Title, Z to A"],
  ["price", "Price, lowest first"],
  ["-price", "Price, highest first"],
];

/** Search, filters and order of the products; all of it is in the address of the page. */
export function FilterBar({ search, go }: { search: ProductsSearch; go: (next: ProductsSearch) => void }) {
  const [typed, setTyped] = useState(search.q ?? "");
  useEffect(() => setTyped(search.q ?? ""), [search.q]);
  const filter = filterOf(search);
  const values = useQuery({
    queryKey: ["products", "filters", filter],
    queryFn: ({ signal }) => ok(client.GET("/api/products/filters", { params: { query: filter }, signal })),
    staleTime: 30_000,
    placeholderData: (before) => before,
  }).data;
  const set = (name: keyof ProductsSearch, value: string) => go({ ...search, [name]: value || undefined });
  const find = (event: FormEvent) => {
    event.preventDefault();
    set("q", typed.trim());
  };
  const { sort, ...filters } = search;
  const filtered = Object.values(filters).some(Boolean);
  return (
    <form onSubmit={find} role="search" className="mb-3 space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label="Search products"
          placeholder="Title, SKU or GTIN"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          className="min-w-0 flex-1 sm:w-72 sm:flex-none"
        />
        <Button type="submit">
          <Search aria-hidden /> Search
        </Button>
        <Select
          aria-label="Order"
          className="w-full sm:ml-auto sm:w-48"
          value={sort ?? ""}
          onChange={(event) => set("sort", event.target.value)}
        >
          {SORTS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </div>
      <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
        <Choice
          label="Source"
          any="All sources"
          name="source"
          values={values?.sources}
          search={search}
          set={set}
        />
        <Choice
          label="Brand"
          any="All brands"
          name="brand"
          values={values?.brands}
          search={search}
          set={set}
        />
        <Choice
          label="Category"
          any="All categories"
          name="category"
          values={values?.categories}
          search={search}
          set={set}
        />
        <Choice
          label="Status"
          any="Any status"
          name="status"
          values={statuses(values?.statuses)}
          search={search}
          set={set}
        />
        <Select
          aria-label="Edits and links"
          className="w-full sm:w-40"
          value={search.edited ? "edited" : search.linked ? "linked" : ""}
          onChange={(event) => {
            const { edited: _, linked: __, ...rest } = search;
            const chosen = event.target.value;
            go({ ...rest, ...(chosen ? { [chosen]: "true" } : {}) });
          }}
        >
          <option value="">Edited or not</option>
          <option value="edited">Edited by hand</option>
          <option value="linked">Linked to a source</option>
        </Select>
        {search.job && <OfJob id={search.job} onRemove={() => set("job", "")} />}
        {filtered && (
          <Button look="quiet" onClick={() => go(sort ? { sort } : {})}>
            <FilterX aria-hidden /> All products
          </Button>
        )}
      </div>
      {values && (
        <Total statuses={values.statuses.filter((one) => !search.status || one.value === search.status)} />
      )}
      {values && !values.complete && (
        <p className="text-xs text-ink-3">
          Brands and categories are those of the {count(values.lookedAt)} products that were changed last.
        </p>
      )}
    </form>
  );
}

/** How many products match. */
function Total({ statuses: found }: { statuses: Value[] }) {
  const sum = found.reduce((all, one) => all + one.count, 0);
  const more = found.some((one) => one.more);
  return (
    <p className="text-sm text-ink-2" role="status">
      {more ? "More than " : ""}
      {plural(sum, "product")}
    </p>
  );
}

/** The job whose products are shown, and a way to show those of all jobs. */
function OfJob({ id, onRemove }: { id: string; onRemove: () => void }) {
  const name = useQuery({ ...jobQuery(id), retry: false }).data?.name;
  return (
    <Button onClick={onRemove} title="Show products of all jobs" className="max-w-full">
      <span className="truncate">Job: {name ?? id}</span> <X aria-label="Remove" />
    </Button>
  );
}

function Choice({
  label,
  any,
  name,
  values,
  search,
  set,
}: {
  label: string;
  any: string;
  name: "source" | "brand" | "category" | "status";
  values: (Value & { label?: string })[] | undefined;
  search: ProductsSearch;
  set: (name: keyof ProductsSearch, value: string) => void;
}) {
  const chosen = search[name] ?? "";
  const listed = values?.some((one) => one.value.toLowerCase() === chosen.toLowerCase());
  return (
    <Select
      aria-label={label}
      className="w-full sm:w-44"
      value={values?.find((one) => one.value.toLowerCase() === chosen.toLowerCase())?.value ?? chosen}
      onChange={(event) => set(name, event.target.value)}
    >
      <option value="">{any}</option>
      {chosen && !listed && <option value={chosen}>{chosen}</option>}
      {values?.map((one) => (
        <option key={one.value} value={one.value}>
          {one.label ?? one.value} ({count(one.count)}
          {one.more && "+"})
        </option>
      ))}
    </Select>
  );
}

function statuses(found: Value[] | undefined): (Value & { label: string })[] {
  return ["published", "unpublished"].map((value) => {
    const one = found?.find((other) => other.value === value);
    const label = value === "published" ? "Published" : "Unpublished";
    return { value, count: one?.count ?? 0, more: one?.more ?? false, label };
  });
}
