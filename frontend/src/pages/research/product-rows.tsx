import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Badge } from "../../components/status";
import { lowestPrice, type MergedProduct, type SourceEntry } from "../../lib/research";

const STOCK: Record<string, string> = {
  in_stock: "In stock",
  out_of_stock: "Out of stock",
  limited: "Limited",
  preorder: "Preorder",
  backorder: "Backorder",
};

/** A merged product, and below it what each source asks for it. */
export function ProductRows({ product }: { product: MergedProduct }) {
  const [open, setOpen] = useState(false);
  const lowest = lowestPrice(product.sources);
  return (
    <>
      <tr>
        <td className="text-right text-ink-2 tabular-nums">{product.rank}</td>
        <td className="max-w-[28rem] min-w-48">
          <div className="font-medium">{product.title}</div>
          <div className="text-xs text-ink-2">
            {[product.brand, product.gtin && `GTIN ${product.gtin}`].filter(Boolean).join(" · ")}
          </div>
        </td>
        <td className="text-right whitespace-nowrap tabular-nums">
          {product.price ? `${product.price} ${product.currency}` : "–"}
        </td>
        <td className="whitespace-nowrap">{STOCK[product.availability] ?? "Unknown"}</td>
        <td>
          <Button
            size="sm"
            look="quiet"
            aria-expanded={open}
            aria-label={`Compare ${product.sources.length} offers of ${product.title}`}
            onClick={() => setOpen(!open)}
          >
            {open ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
            {product.sources.length === 1 ? "1 offer" : `${product.sources.length} offers`}
          </Button>
        </td>
        <td className="text-right tabular-nums">{product.score.toFixed(1)}</td>
      </tr>
      {open &&
        product.sources.map((one) => (
          <OfferRow key={`${one.source} ${one.sourceId}`} offer={one} lowest={lowest} />
        ))}
    </>
  );
}

function OfferRow({ offer, lowest }: { offer: SourceEntry; lowest: number | null }) {
  const amount = Number(offer.comparablePrice?.amount);
  const more = lowest && Number.isFinite(amount) ? Math.round((100 * (amount - lowest)) / lowest) : null;
  const place = [offer.supplier?.name, offer.supplier?.location].filter(Boolean).join(", ");
  return (
    <tr className="bg-sunken text-ink-2">
      <td />
      <td className="max-w-[28rem]">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium text-ink">{offer.source}</span>
          {offer.url ? (
            <a
              href={offer.url}
              rel="noreferrer noopener"
              target="_blank"
              className="text-accent underline-offset-2 hover:underline"
            >
              {offer.sourceId}
            </a>
          ) : (
            <span className="font-mono text-xs">{offer.sourceId}</span>
          )}
          {offer.matchedBy?.map((by) => (
            <Badge key={by} tone="skipped">
              same {by === "gtin" ? "GTIN" : by === "mpn" ? "part number" : "title"}
            </Badge>
          ))}
        </div>
        <div className="text-xs">{place}</div>
      </td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {offer.price ? `${offer.price.amount} ${offer.price.currency ?? ""}` : "–"}
        {offer.price && !offer.comparablePrice && <div className="text-xs">no rate to compare</div>}
        {more !== null && <div className="text-xs">{more === 0 ? "lowest" : `+${more} %`}</div>}
      </td>
      <td className="whitespace-nowrap">
        {STOCK[offer.availability?.status ?? ""] ?? "Unknown"}
        {offer.availability?.deliveryDate && (
          <div className="text-xs">by {offer.availability.deliveryDate}</div>
        )}
      </td>
      <td />
      <td className="text-right text-xs tabular-nums">
        {offer.confidence !== undefined && `${Math.round(100 * offer.confidence)} % sure`}
      </td>
    </tr>
  );
}
