import { PlugZap } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { Dialog } from "../../components/dialog";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { Json, Table } from "../../components/table";
import { client, ok } from "../../lib/api";
import { useAttempt } from "../../lib/attempt";
import type { Source, SourceTest } from "../../lib/research";

interface Shown {
  product: {
    sourceId?: string;
    title?: string;
    price?: { amount?: string; currency?: string };
    availability?: { status?: string };
  };
  problems: { code: string; message: string; target?: string }[];
}

/** Ask the source now: the request, the raw answer, the products, and their problems. */
export function TestDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const { busy, error, attempt } = useAttempt();
  const [result, setResult] = useState<SourceTest | null>(null);
  const run = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const query = String(new FormData(event.currentTarget).get("query")).trim();
    await attempt(async () => {
      const params = { path: { source_id: source.id } };
      setResult(await ok(client.POST("/api/sources/{source_id}/test", { params, body: { query } })));
    });
  };
  return (
    <Dialog open onOpenChange={onClose} title={`Test ${source.title}`} wide>
      <form onSubmit={run} className="flex items-end gap-2">
        <Field label="Search for" className="min-w-0 flex-1">
          {(ids) => <Input {...ids} name="query" required maxLength={500} />}
        </Field>
        <Button look="primary" type="submit" busy={busy}>
          {!busy && <PlugZap aria-hidden />} Test
        </Button>
      </form>
      <div className="space-y-4 py-4" aria-live="polite">
        {error !== null && <ErrorNote error={error} />}
        {result && <Result result={result} />}
      </div>
    </Dialog>
  );
}

function Result({ result }: { result: SourceTest }) {
  const products = result.products as unknown as Shown[];
  const problems = products.flatMap((one) =>
    one.problems.map((found) => ({ id: one.product.sourceId, ...found })),
  );
  return (
    <>
      {result.error && (
        <p
          role="alert"
          className="rounded-md border border-error/30 bg-error-bg px-3 py-2 text-sm text-error"
        >
          {result.error.message} <span className="font-mono text-xs">{result.error.code}</span>
        </p>
      )}
      <section>
        <h3 className="mb-1 text-sm font-semibold">Request</h3>
        <Json value={result.request} label="Request" />
      </section>
      {result.ok && (
        <>
          <section>
            <h3 className="mb-1 text-sm font-semibold">
              Products: {result.records} records in {result.ms} ms
            </h3>
            <Table
              label="Mapped products"
              head={[{ label: "Id" }, { label: "Title" }, { label: "Price" }, { label: "Stock" }]}
            >
              {products.map((one, place) => (
                <tr key={place}>
                  <td className="font-mono text-xs">{one.product.sourceId}</td>
                  <td>{one.product.title}</td>
                  <td className="whitespace-nowrap">
                    {one.product.price?.amount} {one.product.price?.currency}
                  </td>
                  <td>{one.product.availability?.status}</td>
                </tr>
              ))}
            </Table>
          </section>
          {problems.length > 0 && (
            <section>
              <h3 className="mb-1 text-sm font-semibold">Problems</h3>
              <ul className="list-disc space-y-1 pl-5 text-sm">
                {problems.slice(0, 50).map((one, place) => (
                  <li key={place}>
                    <span className="font-mono text-xs">{one.id}</span> {one.target}: {one.message}
                  </li>
                ))}
              </ul>
            </section>
          )}
          <section>
            <h3 className="mb-1 text-sm font-semibold">Raw answer</h3>
            <Json value={result.answer ?? ""} label="Raw answer" />
          </section>
        </>
      )}
    </>
  );
}
