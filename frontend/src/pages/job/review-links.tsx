import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../components/button";
import { ChooseCell, chooseAllColumn, useChosen } from "../../components/chosen";
import { Confirm, Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Table } from "../../components/table";
import type { FullJob, Schemas } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { plural } from "../../lib/format";
import {
  differenceText,
  type LinkName,
  type LinkSide,
  type Pair,
  REASONS,
  useDecideAll,
  useDecideLinks,
} from "../../lib/links";
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
  const chosen = useChosen<string>();
  const { busy, error, attempt } = useAttempt();
  const [all, setAll] = useState<"accept" | "refuse" | null>(null);
  const decide = useDecideLinks();
  const decideAll = useDecideAll(job.id);
  const run = async (decision: "accept" | "refuse") => {
    await attempt(async () => {
      await decide(decision, rows.filter((one) => chosen.chosen.has(one.id)).map(pairOf));
      chosen.setAll([]);
    });
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
          chosen.chosen.size > 0 ? (
            <>
              <Button busy={busy} onClick={() => void run("refuse")}>
                Refuse {plural(chosen.chosen.size, "link")}
              </Button>
              <Button look="primary" busy={busy} onClick={() => void run("accept")}>
                Accept {plural(chosen.chosen.size, "link")}
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
      {rows.length > 0 && <Rows rows={rows} chosen={chosen} canDecide={canDecide} />}
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
  canDecide,
}: {
  rows: Row[];
  chosen: ReturnType<typeof useChosen<string>>;
  canDecide: boolean;
}) {
  return (
    <Table
      label="Proposed links"
      head={[
        ...chooseAllColumn(
          chosen,
          rows.map((one) => one.id),
          canDecide,
        ),
        { label: "Product of this job" },
        { label: "Other source" },
        { label: "Reason", className: "max-sm:hidden" },
        { label: "Price difference", className: "text-right" },
      ]}
    >
      {rows.map((one) => (
        <tr key={one.id} className="align-top">
          {canDecide && (
            <ChooseCell
              of={chosen}
              rowKey={one.id}
              label={`Choose ${one.product.title ?? one.product.sourceId} and ${one.other.title ?? one.other.sourceId}`}
            />
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

function pairOf(row: Row): Pair {
  const [productId, otherId] = [row.product.productId, row.other.productId];
  return productId && otherId
    ? { productId, otherId }
    : { product: nameOf(row.product), other: nameOf(row.other), by: row.by };
}

function nameOf({ source, sourceId }: LinkSide): LinkName {
  return { source, sourceId };
}
