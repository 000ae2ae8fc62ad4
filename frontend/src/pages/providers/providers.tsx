import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleDashed, CircleX, RotateCcw } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Card, Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { Badge } from "../../components/status";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok, type Schemas } from "../../lib/api";
import { count, share } from "../../lib/format";
import { useCanWrite } from "../../lib/session";
import { kindsQuery } from "../../lib/shops";
import type { Tone } from "../../lib/states";
import { rateText } from "./rate";

type Provider = Schemas["ProviderShape"];
type Key = Schemas["ProviderKey"];

const CIRCUITS: Record<string, { tone: Tone; word: string; icon: typeof CircleCheck }> = {
  closed: { tone: "done", word: "Working", icon: CircleCheck },
  half_open: { tone: "pending", word: "Half open", icon: CircleDashed },
  open: { tone: "error", word: "Open", icon: CircleX },
};

/** Limits and circuits of what is called: who is slow, who refuses, who is down. */
export default function Providers() {
  const found = useQuery({
    queryKey: ["providers"],
    queryFn: ({ signal }) => ok(client.GET("/api/providers", { signal })),
    refetchInterval: 5000,
  });
  const providers = found.data?.items ?? [];
  return (
    <Page
      title="Providers"
      lead="Calls stay within each provider's limit. After five failures in a row, calls stop for a minute; then one test call is made."
    >
      {found.error !== null && (
        <ErrorNote error={found.error} onRetry={() => void found.refetch()} className="mb-3" />
      )}
      {found.isPending && <RowsSkeleton />}
      <div className="space-y-5">
        {providers.map((one) => (
          <ProviderCard key={one.key} provider={one} />
        ))}
      </div>
    </Page>
  );
}

function ProviderCard({ provider }: { provider: Provider }) {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const kinds = useQuery(kindsQuery);
  // Sources are described by configurations; all of them share this key.
  const ofSources = provider.key === "source";
  const title =
    kinds.data?.items.find((one) => one.key === provider.key)?.title ??
    (ofSources ? "Sources" : provider.key);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const reset = async () => {
    setError(null);
    setBusy(true);
    try {
      await ok(client.POST("/api/providers/{key}/reset", { params: { path: { key: provider.key } } }));
      await queries.invalidateQueries({ queryKey: ["providers"] });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section aria-label={provider.key}>
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{title}</h2>
        <CircuitBadge state={provider.circuit} />
        <span className="text-sm text-ink-2">{rateText(provider.limit)}</span>
        {canWrite && provider.keys.length > 0 && (
          <Button className="ml-auto" onClick={() => void reset()} disabled={busy}>
            <RotateCcw aria-hidden /> Reset
          </Button>
        )}
      </div>
      {error !== null && <ErrorNote error={error} className="mb-2" />}
      <Card className="overflow-hidden">
        {provider.keys.length === 0 ? (
          <p className="p-3 text-sm text-ink-2">
            No calls yet. Tokens and circuit appear here after the first call.
          </p>
        ) : (
          <Table
            label={`Limits and circuits of ${title}`}
            head={[
              { label: ofSources ? "Source" : "Shop" },
              { label: "Circuit" },
              { label: "Tokens", className: "text-right" },
              { label: "Calls", className: "text-right" },
              { label: "429", className: "text-right" },
              { label: "Errors", className: "text-right" },
              { label: "p95", className: "text-right" },
            ]}
          >
            {provider.keys.map((one) => (
              <KeyRow key={`${one.org} ${one.company} ${one.domain}`} one={one} />
            ))}
          </Table>
        )}
      </Card>
      {provider.keys.length > 0 && (
        <p className="mt-1 text-xs text-ink-3">Calls, 429s, errors and p95 of the last 15 minutes.</p>
      )}
    </section>
  );
}

function KeyRow({ one }: { one: Key }) {
  const probe = one.circuit.nextProbeAt;
  const paused = one.limit.pausedUntil;
  return (
    <tr>
      <td className="max-w-72 truncate">
        <span className="font-medium">{one.domain ?? one.company ?? "All"}</span>
        <span className="block text-xs text-ink-3">{one.org}</span>
      </td>
      <td className="whitespace-nowrap">
        <CircuitBadge state={one.circuit.state} />
        {probe && (
          <span className="block text-xs text-ink-2">
            {Date.parse(probe) > Date.now() ? (
              <>
                next probe <Time at={probe} />
              </>
            ) : (
              "the next call is a probe"
            )}
          </span>
        )}
        {paused && (
          <span className="block text-xs text-ink-2">
            asked to wait, ends <Time at={paused} />
          </span>
        )}
      </td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {count(Math.floor(one.limit.tokens))} of {count(Math.floor(one.limit.burst))}
      </td>
      <td className="text-right tabular-nums">{count(one.calls)}</td>
      <td className="text-right tabular-nums">{count(one.throttled)}</td>
      <td className="text-right tabular-nums">{one.errorRate === null ? "–" : share(one.errorRate)}</td>
      <td className="text-right whitespace-nowrap tabular-nums">
        {one.p95Ms === null ? "–" : `${count(one.p95Ms)} ms`}
      </td>
    </tr>
  );
}

function CircuitBadge({ state }: { state: string }) {
  const look = CIRCUITS[state] ?? CIRCUITS.closed;
  if (!look) return null;
  const Icon = look.icon;
  return (
    <Badge tone={look.tone}>
      <Icon className="size-3" aria-hidden /> {look.word}
    </Badge>
  );
}
