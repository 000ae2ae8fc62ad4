// Connected shops: what pages ask for, and the names of things.
import { queryOptions } from "@tanstack/react-query";
import { CircleCheck, CircleDashed, CircleX, type LucideIcon } from "lucide-react";
import { client, ok, type Schemas } from "./api";
import type { Tone } from "./states";

export type Connection = Schemas["ConnectionShape"];
export type ShopProduct = Schemas["ShopProductShape"];
export type ProviderKind = Schemas["ProviderKind"];

export const kindsQuery = queryOptions({
  queryKey: ["connections", "kinds"],
  queryFn: ({ signal }) => ok(client.GET("/api/connections/providers", { signal })),
  staleTime: 60_000,
});

/** All of the org; there are at most a few hundred. */
export const connectionsQuery = queryOptions({
  queryKey: ["connections", "list"],
  queryFn: async ({ signal }) => {
    const found: Connection[] = [];
    for (let after = ""; ; ) {
      const page = await ok(
        client.GET("/api/connections", { params: { query: { after, pageSize: 200 } }, signal }),
      );
      found.push(...page.items);
      if (!page.next) return found;
      after = page.next;
    }
  },
});

export const CONNECTION_LOOKS: Record<Connection["status"], { tone: Tone; word: string; icon: LucideIcon }> =
  {
    ok: { tone: "done", word: "Works", icon: CircleCheck },
    error: { tone: "error", word: "Fails", icon: CircleX },
    untested: { tone: "pending", word: "Not tested", icon: CircleDashed },
  };

/** How many products the shop had at the last test; null if it does not tell. */
export function productCount(connection: Connection): number | null {
  const told = connection.details.products;
  return typeof told === "number" ? told : null;
}

export const MOST_CHOSEN = 2000;

export type Selection = { all: true } | { all: false; ids: string[] };

export interface ImportOptions {
  intent: string;
  images: boolean;
  missing: string;
}

/** The body of `POST /api/products/import`. */
export function importOrder(connectionId: string, chosen: Selection, options: ImportOptions) {
  const config: Record<string, unknown> = { intent: options.intent, images: options.images };
  // Only an import of everything can tell what is missing.
  if (chosen.all && options.missing) config.missing = options.missing;
  return chosen.all
    ? { connectionId, all: true as const, config }
    : { connectionId, productIds: chosen.ids, config };
}
