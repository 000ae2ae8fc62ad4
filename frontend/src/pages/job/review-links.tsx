import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm, Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Checkbox } from "../../components/field";
import { Table } from "../../components/table";
import type { FullJob, Schemas } from "../../lib/api";
import { plural } from "../../lib/format";
import { differenceText, type LinkSide, REASONS, useDecideAll, useDecideLinks } from "../../lib/links";
import { priceForUnit } from "../products/price";

type Row = Schemas["JobLink"];

interface Props {
  job: FullJob;
  rows: Row[];
  query: {
    error: unknown;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
    refetch: () => unknown;
  };
  canDecide: boolean;
  onClose: () => void;
}

/** Proposed links of a job, to accept or refuse: some of them, or all. */
export function ReviewLinks({ job, rows, query, canDecide, onClose }: Props) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [all, setAll] = useState<"accept" | "refuse" | null>(null);
  const decide = useDecideLinks();
  const decideAll = useDecideAll(job.id);
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  const run = async (decision: "accept" | "refuse") => {
    setBusy(true);
    setError(null);
    try {
      await decide(decision, rows.filter((one) => chosen.has(one.id)).flatMap(pairOf));
      setChosen(new Set());
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Links to other sources"
      description="Accept a link if both products are the same article. Neither product is changed. A refused link is not proposed again."
      wide
      footer={
        canDecide && rows.length > 0 ? (
          chosen.size > 0 ? (
            <>
              <Button busy={busy} onClick={() => void run("refuse")}>
                Refuse {plural(chosen.size, "link")}
              </Button>
              <Button look="primary" busy={busy} onClick={() => void run("accept")}>
                Accept {plural(chosen.size, "link")}
              </Button>
            </>
          ) : (
            <>
              <Button onClick={() => setAll("refuse")}>Refuse all</Button>
              <Button look="primary" onClick={() => setAll("accept")}>
                Accept all
              </Button>
            </>
          )
        ) : (
          <Button onClick={onClose}>Close</Button>
        )
      }
    >
      {!!query.error && <ErrorNote error={query.error} onRetry={() => void query.refetch()} />}
      {error !== null && <ErrorNote error={error} className="mb-3" />}
      {rows.length === 0 && !query.hasNextPage && (
        <p className="py-4 text-sm text-ink-2">All links of this job are decided.</p>
      )}
      {rows.length > 0 && (
        <Rows rows={rows} chosen={chosen} choose={choose} setChosen={setChosen} canDecide={canDecide} />
      )}
      {query.hasNextPage && (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </Button>
      )}
      <Confirm
        open={all !== null}
        onOpenChange={() => setAll(null)}
        title={all === "refuse" ? "Refuse all links of this job?" : "Accept all links of this job?"}
        action={all === "refuse" ? "Refuse all" : "Accept all"}
        danger={all === "refuse"}
        onConfirm={async () => {
          if (all) await decideAll(all);
        }}
      >
        <p>
          {all === "refuse"
            ? "These pairs are not proposed again. Each decision can be undone on the page of the product."
            : "Products that resemble several products of one source are left out: decide about them one by one. Each decision can be undone on the page of the product."}
        </p>
      </Confirm>
    </Dialog>
  );
}

function Rows({
  rows,
  chosen,
  choose,
  setChosen,
  canDecide,
}: {
  rows: Row[];
  chosen: ReadonlySet<string>;
  choose: (id: string, on: boolean) => void;
  setChosen: (chosen: Set<string>) => void;
  canDecide: boolean;
}) {
  return (
    <Table
      label="Proposed links"
      head={[
        ...(canDecide
          ? [
              {
                label: (
                  <Checkbox
                    aria-label="Choose all shown"
                    checked={chosen.size === rows.length}
                    onChange={(event) =>
                      setChosen(new Set(event.target.checked ? rows.map((one) => one.id) : []))
                    }
                  />
                ),
                className: "w-8",
              },
            ]
          : []),
        { label: "Product of this job" },
        { label: "Other source" },
        { label: "Reason", className: "max-sm:hidden" },
        { label: "Price difference", className: "text-right" },
      ]}
    >
      {rows.map((one) => (
        <tr key={one.id} className="align-top">
          {canDecide && (
            <td>
              <Checkbox
                aria-label={`Choose ${one.product.title ?? one.product.sourceId} and ${one.other.title ?? one.other.sourceId}`}
                checked={chosen.has(one.id)}
                onChange={(event) => choose(one.id, event.target.checked)}
              />
            </td>
          )}
          <td className="max-w-52">
            <Side side={one.product} />
          </td>
          <td className="max-w-52">
            <Side side={one.other} />
          </td>
          <td className="text-ink-2 max-sm:hidden">{REASONS[one.by]}</td>
          <td className="text-right whitespace-nowrap">
            {differenceText(one.product.price, one.other.price)}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Side({ side }: { side: LinkSide }) {
  const title = side.title ?? side.sourceId;
  return (
    <>
      {side.productId ? (
        <Link
          to="/products/$productId"
          params={{ productId: side.productId }}
          className="plain-link block truncate"
          title={title}
        >
          {title}
        </Link>
      ) : (
        <span className="block truncate">{title}</span>
      )}
      <span className="block truncate text-xs text-ink-2">
        {side.source} · {side.sku ?? side.sourceId}
      </span>
      <span className="block text-xs tabular-nums">{priceForUnit(side.price)}</span>
    </>
  );
}

function pairOf(row: Row): { productId: string; otherId: string }[] {
  const [productId, otherId] = [row.product.productId, row.other.productId];
  return productId && otherId ? [{ productId, otherId }] : [];
}
