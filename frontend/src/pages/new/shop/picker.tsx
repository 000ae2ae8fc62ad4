import { useInfiniteQuery } from "@tanstack/react-query";
import { PackageSearch, Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../../components/button";
import { EmptyState } from "../../../components/empty";
import { ErrorNote } from "../../../components/error-note";
import { Checkbox, Input } from "../../../components/field";
import { Badge } from "../../../components/status";
import { List, Table } from "../../../components/table";
import { client, ok } from "../../../lib/api";
import { amount, count, plural } from "../../../lib/format";
import { MOST_CHOSEN, type Selection, type ShopProduct } from "../../../lib/shops";

interface Props {
  connectionId: string;
  selection: Selection;
  onSelect: (selection: Selection) => void;
}

async function pageOf(connectionId: string, q: string, after: string, signal?: AbortSignal) {
  return await ok(
    client.GET("/api/connections/{connection_id}/products", {
      params: { path: { connection_id: connectionId }, query: { q, after } },
      signal,
    }),
  );
}

/** The shop's own products: search, choose some, all that match, or simply all. */
export function ProductPicker({ connectionId, selection, onSelect }: Props) {
  const [q, setQ] = useState("");
  const products = useInfiniteQuery({
    queryKey: ["shop products", connectionId, q],
    queryFn: ({ pageParam, signal }) => pageOf(connectionId, q, pageParam, signal),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: 60_000,
    retry: false,
  });
  const rows = products.data?.pages.flatMap((page) => page.items) ?? [];
  const total = products.data?.pages[0]?.total ?? null;
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setQ(String(new FormData(event.currentTarget).get("q") ?? "").trim());
  };
  const ids = selection.all ? [] : selection.ids;
  const chosen = new Set(ids);
  const toggle = (id: string, on: boolean) =>
    onSelect({ all: false, ids: on ? [...ids, id] : ids.filter((one) => one !== id) });
  const shown = rows.map((one) => one.id);
  const allShown = !selection.all && shown.length > 0 && shown.every((id) => chosen.has(id));
  const togglePage = (on: boolean) =>
    onSelect({
      all: false,
      ids: on ? [...new Set([...ids, ...shown])] : ids.filter((id) => !shown.includes(id)),
    });
  return (
    <section className="min-w-0 space-y-3" aria-label="Products of the shop">
      <form role="search" onSubmit={search} className="flex gap-2">
        <Input
          name="q"
          type="search"
          aria-label="Search the shop"
          placeholder="Words in the title"
          maxLength={200}
          className="max-w-md flex-1"
        />
        <Button type="submit">
          <Search aria-hidden /> Search
        </Button>
      </form>
      <SelectionBar
        connectionId={connectionId}
        q={q}
        total={total}
        more={!!products.hasNextPage}
        selection={selection}
        allShown={allShown}
        onSelect={onSelect}
      />
      <List
        query={products}
        rows={rows.length}
        more="Show more products"
        empty={
          <EmptyState icon={PackageSearch} title={q ? "No product matches" : "The shop has no products"}>
            {q && "Not all shops can search; try fewer words."}
          </EmptyState>
        }
      >
        <Table
          label="Products"
          head={[
            {
              label: (
                <Checkbox
                  className="block"
                  aria-label="Select all shown"
                  checked={selection.all || allShown}
                  disabled={selection.all}
                  onChange={(event) => togglePage(event.target.checked)}
                />
              ),
              className: "w-9",
            },
            { label: "Product" },
            { label: "SKU", className: "hidden md:table-cell" },
            { label: "Price", className: "text-right" },
            { label: "State", className: "hidden sm:table-cell" },
          ]}
        >
          {rows.map((one) => (
            <Row
              key={one.id}
              product={one}
              checked={selection.all || chosen.has(one.id)}
              fixed={selection.all}
              onCheck={(on) => toggle(one.id, on)}
            />
          ))}
        </Table>
      </List>
    </section>
  );
}

function Row({
  product,
  checked,
  fixed,
  onCheck,
}: {
  product: ShopProduct;
  checked: boolean;
  fixed: boolean;
  onCheck: (on: boolean) => void;
}) {
  return (
    <tr className="hover:bg-hover">
      <td className="align-middle">
        <Checkbox
          className="block"
          aria-label={`Select ${product.title}`}
          checked={checked}
          disabled={fixed}
          onChange={(event) => onCheck(event.target.checked)}
        />
      </td>
      <td className="w-1/2 max-w-0">
        <span className="block truncate font-medium">{product.title}</span>
        <span className="block truncate text-xs text-ink-3">
          {[
            product.vendor,
            product.productType,
            product.variants !== null && product.variants > 1 ? `${product.variants} variants` : null,
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </td>
      <td className="hidden max-w-40 truncate font-mono text-xs md:table-cell">{product.sku ?? "–"}</td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {product.price ? `${amount(product.price)} ${product.currency ?? ""}` : "–"}
      </td>
      <td className="hidden sm:table-cell">
        <Badge tone={product.status === "active" ? "done" : "skipped"}>{product.status}</Badge>
      </td>
    </tr>
  );
}

interface BarProps {
  connectionId: string;
  q: string;
  total: number | null;
  more: boolean;
  selection: Selection;
  allShown: boolean;
  onSelect: (selection: Selection) => void;
}

/** What is chosen, and the ways to choose more at once. */
function SelectionBar({ connectionId, q, total, more, selection, allShown, onSelect }: BarProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [cut, setCut] = useState(false);
  const selectMatching = async () => {
    setBusy(true);
    setError(null);
    setCut(false);
    try {
      const found = new Set(selection.all ? [] : selection.ids);
      for (let after: string | null = ""; after !== null; ) {
        const page: Awaited<ReturnType<typeof pageOf>> = await pageOf(connectionId, q, after);
        for (const one of page.items) if (found.size < MOST_CHOSEN) found.add(one.id);
        after = page.next;
        if (found.size >= MOST_CHOSEN && after !== null) {
          setCut(true);
          break;
        }
      }
      onSelect({ all: false, ids: [...found] });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const number = selection.all ? null : selection.ids.length;
  return (
    <div className="space-y-2">
      <div className="flex min-h-8 flex-wrap items-center gap-2 text-sm">
        <span role="status" className="font-medium">
          {number === null
            ? "All products of the shop are imported."
            : `${plural(number, "product")} selected.`}
        </span>
        {selection.all ? (
          <Button size="sm" onClick={() => onSelect({ all: false, ids: [] })}>
            Choose some
          </Button>
        ) : (
          <>
            <Button size="sm" onClick={() => onSelect({ all: true })}>
              All products
            </Button>
            {(q || (allShown && more)) && (
              <Button size="sm" busy={busy} onClick={() => void selectMatching()}>
                Select all {total === null ? "" : `${count(total)} `}matching
              </Button>
            )}
            {number !== null && number > 0 && (
              <Button size="sm" look="quiet" onClick={() => onSelect({ all: false, ids: [] })}>
                Clear
              </Button>
            )}
          </>
        )}
      </div>
      {cut && (
        <p role="status" className="text-sm text-not-found">
          Only {count(MOST_CHOSEN)} products can be chosen one by one. Import all products instead.
        </p>
      )}
      {error !== null && <ErrorNote error={error} />}
    </div>
  );
}
