import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { FlaskConical, Plug, Plus, Search } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { RowsSkeleton } from "../../components/skeleton";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { sourcesQuery } from "../../lib/research";
import { useCanWrite } from "../../lib/session";
import { kindsQuery } from "../../lib/shops";
import { SourceCard } from "./card";
import { SourceEditor } from "./editor";

/** Product APIs that configuration files describe. */
export default function Sources() {
  const queries = useQueryClient();
  const canWrite = useCanWrite();
  const sources = useQuery(sourcesQuery);
  const kinds = useQuery(kindsQuery);
  const [adding, setAdding] = useState(false);
  const [addingDemo, setAddingDemo] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const rows = sources.data ?? [];
  const addDemo = async () => {
    setAddingDemo(true);
    setError(null);
    try {
      const made = await ok(client.POST("/api/sources/demo"));
      toast.success(`${made.items.length} demo sources are added`);
    } catch (problem) {
      setError(problem);
    } finally {
      setAddingDemo(false);
      void queries.invalidateQueries({ queryKey: ["sources"] });
    }
  };
  const demo = canWrite && kinds.data?.demo && (
    <Button busy={addingDemo} onClick={() => void addDemo()}>
      {!addingDemo && <FlaskConical aria-hidden />} Add sandbox sources
    </Button>
  );
  const add = canWrite && (
    <Button look="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden /> New source
    </Button>
  );
  return (
    <Page
      title="Sources"
      lead="Product APIs used by research and lookups. Each is a configuration file."
      actions={
        rows.length > 0 && (
          <>
            <Button asChild>
              <Link to="/research">
                <Search aria-hidden /> Research
              </Link>
            </Button>
            {demo}
            {add}
          </>
        )
      }
    >
      {error !== null && <ErrorNote error={error} className="mb-4" />}
      {sources.error && (
        <ErrorNote error={sources.error} onRetry={() => void sources.refetch()} className="mb-4" />
      )}
      {sources.isPending && <RowsSkeleton rows={4} />}
      {sources.data && rows.length === 0 && (
        <EmptyState
          icon={Plug}
          title="No sources yet"
          action={
            <>
              {add}
              {demo}
            </>
          }
        >
          Describe a product API in TOML or JSON: its address, its credentials, its pages, and how its fields
          become products.
        </EmptyState>
      )}
      <ul className="grid grid-cols-1 gap-4 empty:hidden md:grid-cols-2 xl:grid-cols-3" aria-label="Sources">
        {rows.map((one) => (
          <li key={one.id} className="min-w-0">
            <SourceCard source={one} canWrite={canWrite} />
          </li>
        ))}
      </ul>
      {adding && (
        <SourceEditor
          source={null}
          onClose={() => setAdding(false)}
          onSaved={() => {
            setAdding(false);
            void queries.invalidateQueries({ queryKey: ["sources"] });
          }}
        />
      )}
    </Page>
  );
}
