import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ChevronLeft, Pencil } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Card, Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Facts, Json, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { cellText } from "../../lib/format";
import { fieldLabel, gtin, label } from "../../lib/labels";
import { useCanWrite } from "../../lib/session";
import { priceWithUnit } from "./details";
import { EditProduct } from "./edit-product";
import { History } from "./history";
import { Pictures } from "./pictures";
import { PriceChart } from "./price-chart";
import { ProductLinks } from "./product-links";
import { ProductParts } from "./product-parts";

type Full = Schemas["FullProduct"];

/** One product: what is known of it, where each value is from, and what has happened to it. */
export default function ProductPage() {
  const { productId } = useParams({ from: "/inside/products/$productId" });
  const product = useQuery({
    queryKey: ["products", "one", productId],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/products/{product_id}", { params: { path: { product_id: productId } }, signal })),
  });
  const one = product.data;
  const canWrite = useCanWrite();
  const [editing, setEditing] = useState(false);
  return (
    <Page
      title={one?.title || "Product"}
      lead={
        <Link to="/products" className="inline-flex items-center text-ink-2 hover:text-ink">
          <ChevronLeft className="size-4" aria-hidden /> Products
        </Link>
      }
      actions={
        one &&
        canWrite && (
          <Button onClick={() => setEditing(true)}>
            <Pencil aria-hidden /> Edit
          </Button>
        )
      }
      beside={
        one && <Badge tone={one.status === "published" ? "done" : "skipped"}>{label(one.status)}</Badge>
      }
    >
      {one && editing && <EditProduct product={one} onClose={() => setEditing(false)} />}
      {product.error && <ErrorNote error={product.error} onRetry={() => void product.refetch()} />}
      {!one ? (
        product.isPending && <RowsSkeleton />
      ) : (
        <div className="grid gap-5 xl:grid-cols-[3fr_2fr] xl:grid-rows-[auto_1fr]">
          <div className="min-w-0 space-y-5 xl:row-span-2">
            <section>
              <h2 className="mb-2 text-base font-semibold">Details</h2>
              <Known product={one} />
            </section>
            <ProductParts product={one.product as Record<string, unknown>} />
            <ProductLinks product={one} />
            <section>
              <h2 className="mb-1 text-base font-semibold">Origin of each value</h2>
              <p className="mb-2 text-sm text-ink-2">
                Last written by{" "}
                <Link
                  to="/jobs/$jobId"
                  params={{ jobId: one.jobId }}
                  search={{ row: one.rowNo }}
                  className="plain-link"
                >
                  row {one.rowNo} of its job
                </Link>
                .
              </p>
              <Lineage lineage={one.lineage} />
            </section>
            <details>
              <summary className="text-sm font-medium text-ink-2">All data as JSON</summary>
              <div className="mt-2">
                <Json value={one.product} label="Product as JSON" />
              </div>
            </details>
          </div>
          {/* What it looks like comes first where there is one column only. */}
          <div className="min-w-0 empty:hidden max-xl:order-first">
            <Pictures key={one.id} productId={one.id} images={imagesOf(one.product)} />
          </div>
          <div className="min-w-0 space-y-5 xl:col-start-2">
            <PriceChart productId={one.id} version={one.version} />
            <History productId={productId} />
          </div>
        </div>
      )}
    </Page>
  );
}

function imagesOf(product: Record<string, unknown>): { url?: string; alt?: string }[] {
  return Array.isArray(product.images) ? product.images : [];
}

function Known({ product: one }: { product: Full }) {
  const deep = one.product as Record<string, unknown>;
  const described = typeof deep.description === "string" ? deep.description : "";
  return (
    <Facts
      facts={[
        ["SKU", one.sku && <span className="font-mono text-xs">{one.sku}</span>],
        ["GTIN", one.gtin && <span className="font-mono text-xs">{gtin(one.gtin)}</span>],
        ["Brand", one.brand],
        ["Category", cellText(one.category)],
        ["Price", priceWithUnit(deep)],
        ["Availability", one.availability?.replaceAll("_", " ")],
        ["Description", described && <p className="whitespace-pre-line">{described}</p>],
        ["Source", `${one.source} · ${one.sourceId}`],
        [
          "Edited fields",
          one.keptFields.length > 0 ? (
            <>
              {one.keptFields.map(fieldLabel).join(", ")}
              <span className="block text-xs text-ink-2">Imports do not change them.</span>
            </>
          ) : null,
        ],
        ["Version", one.version],
        ["Created", <Time key="made" at={one.createdAt} />],
        ["Updated", <Time key="now" at={one.updatedAt} />],
      ]}
    />
  );
}

interface Origin {
  column?: unknown;
  raw?: unknown;
  rule?: unknown;
  confidence?: unknown;
}

function Lineage({ lineage }: { lineage: Record<string, unknown> }) {
  const rows = Object.entries(lineage).map(([field, told]) => [field, origin(told)] as const);
  if (rows.length === 0) return <p className="text-sm text-ink-3">Nothing was recorded for this product.</p>;
  return (
    <Card className="overflow-hidden">
      <Table
        label="Lineage"
        head={[
          { label: "Field" },
          { label: "Column" },
          { label: "Original value" },
          { label: "Rule" },
          { label: "Confidence", className: "text-right" },
        ]}
      >
        {rows.map(([field, from]) => (
          <tr key={field} className="align-top">
            <td className="font-mono text-xs leading-5">{field}</td>
            <td>{cellText(from.column)}</td>
            <td className="max-w-60 break-words text-ink-2">{cellText(from.raw)}</td>
            <td className="text-ink-2">{cellText(from.rule)}</td>
            <td className="text-right whitespace-nowrap">
              {typeof from.confidence === "number" ? `${Math.round(100 * from.confidence)} %` : ""}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function origin(told: unknown): Origin {
  if (Array.isArray(told)) {
    const [column, raw, rule, confidence] = told;
    return { column, raw, rule, confidence };
  }
  return (told ?? {}) as Origin;
}
