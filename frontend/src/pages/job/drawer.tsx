import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ban, Check, ChevronDown, ChevronUp, RotateCw } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../../components/button";
import { Drawer } from "../../components/drawer";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { RowsSkeleton } from "../../components/skeleton";
import { ItemPill } from "../../components/status";
import { Facts } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, type FullJob, type Item, ok } from "../../lib/api";
import { codeLabel } from "../../lib/codes";
import { cellText, count } from "../../lib/format";
import { useShortcuts } from "../../lib/keys";
import { fieldLabel, label } from "../../lib/labels";
import { lineOf } from "../../lib/lines";
import { candidatesOf, PROPOSED, proposalOf } from "../../lib/lookup";
import { useCanWrite } from "../../lib/session";
import { isLive } from "../../lib/states";
import { type Change, Changes } from "./changes";
import { troubles } from "./columns";
import { isHeld, useAccept } from "./held";
import { Links, type ProposedLink } from "./links";
import { Candidates, SearchList } from "./lookup-parts";
import { useDecide } from "./proposals";

interface Props {
  job: FullJob;
  row: number;
  onClose: () => void;
  onChanged: () => void;
}

/** One row: what came in, the result, and where each value is from. */
export function RowDrawer({ job, row, onClose, onChanged }: Props) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const item = useQuery({
    queryKey: ["job", job.id, "item", row],
    queryFn: async ({ signal }) => {
      const page = await ok(
        client.GET("/api/jobs/{job_id}/items", {
          params: { path: { job_id: job.id }, query: { fromRow: row, pageSize: 1 } },
          signal,
        }),
      );
      return page.items[0] ?? null;
    },
    placeholderData: keepPreviousData,
  });
  const goTo = (next: number) => {
    if (next < 1 || next > job.counters.total) return;
    void navigate({
      to: "/jobs/$jobId",
      params: { jobId: job.id },
      search: (now) => ({ ...now, row: next }),
      replace: true,
    });
  };
  const line = lineOf(job.lines, row);
  const again = async () => {
    const done = await ok(
      client.POST("/api/jobs/{job_id}/reprocess", {
        params: { path: { job_id: job.id } },
        body: {
          scope: "items",
          itemIds: [row],
          statuses: ["DONE", "ERROR", "NOT_FOUND", "SKIPPED"],
          resetAttempts: true,
          fromStart: true,
        },
      }),
    );
    queries.setQueryData(["job", job.id], done.job);
    onChanged();
    toast.success(`Row ${count(row)} runs again`);
  };
  return (
    <Drawer
      open
      onOpenChange={onClose}
      title={line ? `Row ${count(row)} · line ${count(line)} of the file` : `Row ${count(row)}`}
      actions={
        <div data-keys="on" className="flex">
          <Keys onNext={() => goTo(row + 1)} onBefore={() => goTo(row - 1)} />
          <Button
            look="quiet"
            size="icon"
            aria-label="Previous row"
            disabled={row <= 1}
            onClick={() => goTo(row - 1)}
          >
            <ChevronUp aria-hidden />
          </Button>
          <Button
            look="quiet"
            size="icon"
            aria-label="Next row"
            disabled={row >= job.counters.total}
            onClick={() => goTo(row + 1)}
          >
            <ChevronDown aria-hidden />
          </Button>
        </div>
      }
    >
      {item.error && <ErrorNote error={item.error} onRetry={() => void item.refetch()} className="mb-3" />}
      {item.isPending ? (
        <RowsSkeleton />
      ) : item.data ? (
        <Details
          key={`${item.data.rowNo} ${item.data.updatedAt}`}
          job={job}
          item={item.data}
          canFix={canWrite && !isLive(job.state)}
          onAgain={canWrite && !["PENDING", "PROCESSING"].includes(item.data.status) ? again : undefined}
          onChanged={() => {
            void item.refetch();
            onChanged();
          }}
        />
      ) : (
        <p className="text-sm text-ink-2">This row does not exist any more.</p>
      )}
    </Drawer>
  );
}

function Keys({ onNext, onBefore }: { onNext: () => void; onBefore: () => void }) {
  useShortcuts("Row", { j: ["Next row", onNext], k: ["Previous row", onBefore] });
  return null;
}

interface Kept {
  field: string;
  kept: unknown;
  file: unknown;
}

interface DetailsProps {
  job: FullJob;
  item: Item;
  canFix: boolean;
  onAgain?: () => Promise<void>;
  onChanged: () => void;
}

function Details({ job, item, canFix, onAgain, onChanged }: DetailsProps) {
  const [error, setError] = useState<unknown>(null);
  const lineage = (item.normalized?.lineage ?? {}) as Record<string, [string, string, string, number]>;
  const match = item.normalized?.match as
    | { state?: string; changes?: Change[]; links?: ProposedLink[]; kept?: Kept[] }
    | undefined;
  const accept = useAccept(job);
  const decide = useDecide(job);
  const code = (item.error as { code?: string } | null)?.code;
  return (
    <div className="space-y-6">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-ink-2">
        <ItemPill status={item.status} shown={item.shown} />
        {item.stage && <span>stage {item.stage}</span>}
        <span>{item.attempts === 1 ? "1 try" : `${item.attempts} tries`}</span>
        <span>
          updated <Time at={item.updatedAt} />
        </span>
        {item.lockedBy && (
          <span>
            held by <span className="font-mono text-xs">{item.lockedBy}</span>
          </span>
        )}
        {onAgain && (
          <Button size="sm" onClick={() => onAgain().catch(setError)}>
            <RotateCw aria-hidden /> Run again
          </Button>
        )}
        {onAgain && isHeld(code) && (
          <Button
            size="sm"
            look="primary"
            onClick={() => accept({ itemIds: [item.rowNo] }).then(onChanged, setError)}
          >
            <Check aria-hidden /> Accept
          </Button>
        )}
        {onAgain && code === PROPOSED && (
          <>
            <Button size="sm" onClick={() => decide("refuse", [item.rowNo]).then(onChanged, setError)}>
              <Ban aria-hidden /> Refuse
            </Button>
            <Button
              size="sm"
              look="primary"
              onClick={() => decide("accept", [item.rowNo]).then(onChanged, setError)}
            >
              <Check aria-hidden /> Accept
            </Button>
          </>
        )}
      </div>
      {error !== null && <ErrorNote error={error} />}
      <Problems job={job} item={item} canFix={canFix} onChanged={onChanged} />
      {match?.links && match.links.length > 0 && (
        <Part
          title="Possible matches"
          lead="Products of other sources that may be the same. Accept or refuse them with “Review links” above the table."
        >
          <Links links={match.links} />
        </Part>
      )}
      {match?.kept && match.kept.length > 0 && (
        <Part
          title="Edited fields, not changed"
          lead="A person edited these fields of the product. The file has other values for them."
        >
          <Facts
            facts={match.kept.map((one) => [
              fieldLabel(one.field),
              `${cellText(one.kept) || "empty"} (the file has ${cellText(one.file)})`,
            ])}
          />
        </Part>
      )}
      {match?.changes && match.changes.length > 0 && (
        <Part title="Changes in the catalog">
          <Changes changes={match.changes} />
        </Part>
      )}
      {job.pipeline === "lookup" && candidatesOf(item).length > 0 && (
        <Part title="Candidates" lead="Products that may match this row. Your choice becomes the result.">
          <Candidates job={job} item={item} canChoose={!!onAgain} onChanged={onChanged} />
        </Part>
      )}
      {proposalOf(item).length > 0 && (
        <Part title="Proposal" lead="Values for empty fields of the product.">
          <Changes changes={proposalOf(item)} />
        </Part>
      )}
      {job.pipeline === "lookup" && (
        <Part title="Searches" lead="Searches made for this row.">
          <SearchList job={job} item={item} />
        </Part>
      )}
      {item.result && (
        <Part title="Result" lead="The values shown in the grid and written to exports.">
          <Pairs values={inOrder(item.result, job.columns)} named={label} />
        </Part>
      )}
      {Object.keys(lineage).length > 0 && (
        <Part title="Origin of each value" lead="The column, its original value, and the rule that read it.">
          <Lineage lineage={lineage} />
        </Part>
      )}
      <Part title="Input" lead="The row exactly as it was read.">
        <Pairs values={asRecord(item.input)} />
      </Part>
      {item.normalized && (
        <details>
          <summary className="text-sm font-medium text-ink-2">All data as JSON</summary>
          <pre
            className="mt-2 max-h-96 overflow-auto rounded-md border bg-sunken p-3 font-mono text-xs"
            tabIndex={0}
          >
            {JSON.stringify({ normalized: item.normalized, error: item.error }, null, 2)}
          </pre>
        </details>
      )}
    </div>
  );
}

function Problems({ job, item, canFix, onChanged }: Omit<DetailsProps, "onAgain">) {
  const list = troubles(item);
  if (list.length === 0) return null;
  const input = asRecord(item.input);
  const fixable = [
    ...new Set(list.map((one) => one.column).filter((name): name is string => !!name && name in input)),
  ];
  return (
    <Part title={list.length === 1 ? "One problem" : `${list.length} problems`}>
      <ul className="space-y-1.5">
        {list.map((one, place) => (
          <li
            key={place}
            className={
              one.severity === "warning" || !item.error || item.status === "SKIPPED"
                ? "rounded-md bg-not-found-bg px-3 py-2 text-sm text-not-found"
                : "rounded-md bg-error-bg px-3 py-2 text-sm text-error"
            }
          >
            <span className="font-medium" title={one.code}>
              {codeLabel(one.code)}
            </span>
            {one.column && <span className="font-medium"> · {one.column}</span>}
            {one.value !== undefined && one.value !== "" && <span> “{cellText(one.value)}”</span>}
            <span className="block">{one.message}</span>
          </li>
        ))}
      </ul>
      {canFix && fixable.length > 0 && (
        <FixForm job={job} item={item} columns={fixable} input={input} onChanged={onChanged} />
      )}
      {!canFix && isLive(job.state) && fixable.length > 0 && (
        <p className="mt-2 text-xs text-ink-3">Cells can be corrected after the job has ended.</p>
      )}
    </Part>
  );
}

interface FixProps {
  job: FullJob;
  item: Item;
  columns: string[];
  input: Record<string, unknown>;
  onChanged: () => void;
}

function FixForm({ job, item, columns, input, onChanged }: FixProps) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const changed = Object.fromEntries(
      columns
        .map((name) => [name, String(form.get(name) ?? "")] as const)
        .filter(([name, text]) => text !== cellText(input[name])),
    );
    if (Object.keys(changed).length === 0) {
      setError(new Error("Nothing has changed. Enter the correct value."));
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const done = await ok(
        client.PATCH("/api/jobs/{job_id}/items/{item}", {
          params: { path: { job_id: job.id, item: String(item.rowNo) } },
          body: { input: changed },
        }),
      );
      queries.setQueryData(["job", job.id], done.job);
      toast.success(`Row ${count(item.rowNo)} is corrected and runs again`);
      onChanged();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={save} className="mt-3 space-y-3 rounded-md border p-3">
      {columns.map((name) => (
        <Field key={name} label={name}>
          {(ids) => <Input {...ids} name={name} defaultValue={cellText(input[name])} />}
        </Field>
      ))}
      {error !== null && <ErrorNote error={error} />}
      <Button look="primary" type="submit" busy={busy}>
        Save and rerun row
      </Button>
    </form>
  );
}

function Lineage({ lineage }: { lineage: Record<string, [string, string, string, number]> }) {
  return (
    <div className="overflow-x-auto rounded-md border" tabIndex={0} role="region" aria-label="Lineage">
      <table className="w-full text-left text-sm">
        <thead className="bg-sunken text-xs text-ink-2">
          <tr className="[&>th]:px-3 [&>th]:py-1.5 [&>th]:font-medium">
            <th>Field</th>
            <th>Column</th>
            <th>Original value</th>
            <th>Rule</th>
            <th className="text-right">Confidence</th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {Object.entries(lineage).map(([field, [column, raw, rule, sure]]) => (
            <tr key={field} className="[&>td]:px-3 [&>td]:py-1.5">
              <td title={field}>{fieldLabel(field)}</td>
              <td>{column}</td>
              <td className="max-w-48 truncate" title={cellText(raw)}>
                {cellText(raw)}
              </td>
              <td className="text-ink-2">{rule}</td>
              <td className="text-right whitespace-nowrap text-ink-2">{Math.round(100 * (sure ?? 1))} %</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Part({ title, lead, children }: { title: string; lead?: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="text-base font-semibold">{title}</h3>
      {lead && <p className="text-xs text-ink-3">{lead}</p>}
      <div className="mt-2">{children}</div>
    </section>
  );
}

function Pairs({
  values,
  named = (name) => name,
}: {
  values: Record<string, unknown>;
  named?: (name: string) => string;
}) {
  return (
    <dl className="divide-y rounded-md border text-sm">
      {Object.entries(values).map(([name, value]) => (
        <div key={name} className="grid grid-cols-[minmax(96px,1fr)_2fr] gap-3 px-3 py-1.5">
          <dt className="truncate text-ink-2" title={name}>
            {named(name)}
          </dt>
          <dd className="min-w-0 break-words">
            {cellText(value) === "" ? <span className="text-ink-3">empty</span> : cellText(value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** As the grid has them; what it does not have comes last. */
function inOrder(values: Record<string, unknown>, columns: string[] | null): Record<string, unknown> {
  const first = (columns ?? []).filter((name) => name in values);
  return Object.fromEntries(
    [...new Set([...first, ...Object.keys(values)])].map((name) => [name, values[name]]),
  );
}

function asRecord(value: unknown): Record<string, unknown> {
  if (value && typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  if (Array.isArray(value))
    return Object.fromEntries(value.map((cell, place) => [`Column ${place + 1}`, cell]));
  return { value };
}
