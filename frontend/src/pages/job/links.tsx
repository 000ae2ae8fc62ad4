import { Link } from "@tanstack/react-router";
import { Link2 } from "lucide-react";
import { cn } from "../../lib/cn";

export interface ProposedLink {
  productId: string;
  source: string;
  sourceId: string;
  title?: string | null;
  by: string;
}

/** Products of other sources that may be the same. */
export function Links({ links, className }: { links: ProposedLink[]; className?: string }) {
  if (links.length === 0) return null;
  return (
    <ul className={cn("space-y-0.5 text-sm", className)}>
      {links.map((one) => (
        <li key={one.productId}>
          <Link2 className="mr-1 inline size-3.5 align-[-2px] text-ink-3" aria-hidden />
          <Link to="/products/$productId" params={{ productId: one.productId }} className="plain-link">
            {one.source} · {one.sourceId}
          </Link>
          {one.title && ` ${one.title}`}
          <span className="text-ink-2"> ({one.by === "gtin" ? "same GTIN" : "same brand and MPN"})</span>
        </li>
      ))}
    </ul>
  );
}
