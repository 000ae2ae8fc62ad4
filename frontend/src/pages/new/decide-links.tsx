import { Check, Link2, X } from "lucide-react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import type { Preview } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import { plural } from "../../lib/format";
import { clearLinks, type Decision, type LinkName, useDecideLinks } from "../../lib/links";
import type { Draft } from "./draft";

/** A link that a row of the dry run proposes. */
export interface RowLink {
  key: string;
  product: LinkName;
  other: LinkName;
  title: string | null;
  by: "gtin" | "mpn";
}

type Decided = NonNullable<Draft["links"]>;

export function linksOf(row: Preview["rows"][number]): RowLink[] {
  const product = row.product as LinkName | null;
  if (product === null) return [];
  return row.links.map((link) => {
    const other = { source: String(link.source), sourceId: String(link.sourceId) };
    const title = link.title ? String(link.title) : null;
    const key = JSON.stringify([product.source, product.sourceId, other.source, other.sourceId]);
    return { key, product, other, title, by: link.by === "mpn" ? "mpn" : "gtin" };
  });
}

/** Decides links before the import: the server knows products of the file by their names. */
export function useWizardLinks(draft: Draft, change: (part: Partial<Draft>) => void) {
  const decide = useDecideLinks();
  const { busy, error, attempt } = useAttempt();
  const decided: Decided = draft.links ?? {};
  const run = async (decision: Decision, links: RowLink[]) => {
    await attempt(async () => {
      await decide(
        decision,
        links.map(({ product, other, by }) => ({ product, other, by })),
      );
      const next = { ...decided };
      for (const { key } of links) {
        if (decision === "undo") delete next[key];
        else next[key] = decision;
      }
      change({ links: next });
    });
  };
  return { decided, run, busy, error };
}

type Links = ReturnType<typeof useWizardLinks>;

/** Accept or refuse all links of the rows shown that are not decided yet. */
export function AllLinks({ all, links }: { all: RowLink[]; links: Links }) {
  const open = all.filter((one) => !links.decided[one.key]);
  const clear = clearLinks(open);
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <p className="min-w-0 flex-1 basis-72 text-ink-2">
          Accept a link if both products are the same article. Neither product is changed, and a refused link
          is not proposed again.
          {clear.length < open.length &&
            ` ${plural(open.length - clear.length, "link is", "links are")} not clear: decide about each of them.`}
        </p>
        <Button
          size="sm"
          disabled={open.length === 0 || links.busy}
          onClick={() => links.run("refuse", open)}
        >
          Refuse all
        </Button>
        <Button
          size="sm"
          look="primary"
          disabled={clear.length === 0 || links.busy}
          onClick={() => links.run("accept", clear)}
        >
          {clear.length > 0 ? `Accept ${plural(clear.length, "link")}` : "Accept all"}
        </Button>
      </div>
      {links.error !== null && <ErrorNote error={links.error} />}
    </div>
  );
}

/** The links of one row, each with its decision. Choosing a decision again undoes it. */
export function RowLinks({ of, links }: { of: RowLink[]; links: Links }) {
  return (
    <ul className="space-y-1 text-xs">
      {of.map((one) => {
        const name = `${one.other.source} · ${one.other.sourceId}`;
        const now = links.decided[one.key];
        const button = (decision: "accept" | "refuse", word: string, done: string) => (
          <Button
            size="sm"
            look={now === decision ? "primary" : "plain"}
            aria-pressed={now === decision}
            aria-label={`${word} the link to ${name}`}
            aria-disabled={links.busy}
            onClick={() => !links.busy && void links.run(now === decision ? "undo" : decision, [one])}
          >
            {decision === "accept" ? <Check aria-hidden /> : <X aria-hidden />}
            {now === decision ? done : word}
          </Button>
        );
        return (
          <li key={one.key} className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <Link2 className="size-3.5 text-ink-3" aria-hidden />
            <span>
              Same article as {name}
              {one.title && ` ${one.title}`}
              <span className="text-ink-2"> ({one.by === "gtin" ? "same GTIN" : "same brand and MPN"})</span>?
            </span>
            {button("accept", "Accept", "Accepted")}
            {button("refuse", "Refuse", "Refused")}
          </li>
        );
      })}
    </ul>
  );
}
