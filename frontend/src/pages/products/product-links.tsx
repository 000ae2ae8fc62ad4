import { Link } from "@tanstack/react-router";
import { Ban, Check, Undo2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Card } from "../../components/page";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import type { Schemas } from "../../lib/api";
import { type Decision, differenceText, REASONS, useDecideLinks } from "../../lib/links";
import { useCanWrite } from "../../lib/session";
import { priceForUnit } from "./price";

type Full = Schemas["FullProduct"];
type Linked = Full["linked"][number];
type Decide = (decision: Decision, otherId: string | null) => void;

/** The same article in other sources: accepted links with their prices, proposals, refused ones. */
export function ProductLinks({ product }: { product: Full }) {
  const [error, setError] = useState<unknown>(null);
  const decide = useDecideLinks();
  const accepted = product.linked.filter((one) => one.state === "accepted");
  const refused = product.linked.filter((one) => one.state === "refused");
  if (product.links.length === 0 && product.linked.length === 0) return null;
  const run: Decide = (decision, otherId) => {
    setError(null);
    if (otherId) decide(decision, [{ productId: product.id, otherId }]).catch(setError);
  };
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      {accepted.length > 0 && <Accepted product={product} links={accepted} decide={run} />}
      {product.links.length > 0 && <Proposed links={product.links} decide={run} />}
      {refused.length > 0 && <Refused links={refused} decide={run} />}
    </>
  );
}

/** Linked products with prices beside this one's. */
function Accepted({ product, links, decide }: { product: Full; links: Linked[]; decide: Decide }) {
  const canWrite = useCanWrite();
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">Same article in other sources</h2>
      <Card className="overflow-hidden">
        <Table
          label="Linked products"
          head={[
            { label: "Product" },
            { label: "Availability", className: "max-sm:hidden" },
            { label: "Price", className: "text-right" },
            { label: "Difference", className: "text-right" },
            ...(canWrite ? [{ label: <span className="sr-only">Undo</span> }] : []),
          ]}
        >
          {links.map((one) => (
            <tr key={one.id}>
              <td className="max-w-60">
                <Other id={one.other.productId}>{one.other.title ?? one.other.sourceId}</Other>
                <span className="block truncate text-xs text-ink-2">
                  {one.other.source} · {one.other.sku ?? one.other.sourceId} · {REASONS[one.by]}
                </span>
                <span className="block truncate text-xs text-ink-3">
                  {one.decidedBy && `${one.decidedBy}, `}
                  <Time at={one.decidedAt} />
                </span>
              </td>
              <td className="max-sm:hidden">{one.other.availability?.replaceAll("_", " ")}</td>
              <td className="text-right whitespace-nowrap tabular-nums">{priceForUnit(one.other.price)}</td>
              <td className="text-right whitespace-nowrap tabular-nums">
                {differenceText(product.price, one.other.price)}
              </td>
              {canWrite && (
                <td className="text-right">
                  <Button size="sm" look="quiet" onClick={() => decide("undo", one.other.productId)}>
                    <Undo2 aria-hidden /> Unlink
                  </Button>
                </td>
              )}
            </tr>
          ))}
        </Table>
      </Card>
    </section>
  );
}

function Proposed({ links, decide }: { links: Full["links"]; decide: Decide }) {
  const canWrite = useCanWrite();
  return (
    <section>
      <h2 className="mb-1 text-base font-semibold">Possible matches</h2>
      <p className="mb-2 text-sm text-ink-2">
        Accept a link if both are the same article. Neither product is changed. A refused link is not proposed
        again.
      </p>
      <ul aria-label="Proposed links" className="divide-y rounded-lg border bg-surface text-sm">
        {links.map((one) => (
          <li key={one.productId} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
            <span className="min-w-0 flex-1 basis-48">
              <Other id={one.productId}>
                {one.source} · {one.sourceId}
              </Other>
              <span className="block truncate text-xs text-ink-2">
                {[one.title, REASONS[one.by]].filter(Boolean).join(" · ")}
              </span>
            </span>
            {canWrite && (
              <span className="flex gap-2">
                <Button size="sm" onClick={() => decide("refuse", one.productId)}>
                  <Ban aria-hidden /> Refuse
                </Button>
                <Button size="sm" look="primary" onClick={() => decide("accept", one.productId)}>
                  <Check aria-hidden /> Accept
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Refused({ links, decide }: { links: Linked[]; decide: Decide }) {
  const canWrite = useCanWrite();
  return (
    <details className="text-sm">
      <summary className="font-medium text-ink-2">Refused links ({links.length})</summary>
      <ul className="mt-1 space-y-1">
        {links.map((one) => (
          <li key={one.id} className="flex flex-wrap items-center gap-x-3">
            <Other id={one.other.productId}>
              {one.other.source} · {one.other.sourceId}
            </Other>
            {canWrite && (
              <Button size="sm" look="quiet" onClick={() => decide("undo", one.other.productId)}>
                <Undo2 aria-hidden /> Propose again
              </Button>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Other({ id, children }: { id: string | null; children: React.ReactNode }) {
  if (!id) return <span className="block truncate">{children}</span>;
  return (
    <Link to="/products/$productId" params={{ productId: id }} className="plain-link block truncate">
      {children}
    </Link>
  );
}
