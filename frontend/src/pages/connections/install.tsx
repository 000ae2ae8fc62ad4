import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Page } from "../../components/page";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";

/** As the page was opened: the provider's signature covers every letter, and the router may write
 * numbers differently. */
function originalSearch(): string {
  const opened = performance.getEntriesByType("navigation")[0]?.name;
  const first = opened ? new URL(opened) : null;
  return first?.pathname === window.location.pathname ? first.search : window.location.search;
}

/** The merchant has agreed, and the provider sent the browser back: complete the connection. */
export default function Install() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const begun = useRef(false);
  const complete = useMutation({
    mutationFn: async () => {
      const parameters = Object.fromEntries(new URLSearchParams(originalSearch()));
      const made = await ok(client.POST("/api/connections/install/complete", { body: { parameters } }));
      await ok(
        client.POST("/api/connections/{connection_id}/test", {
          params: { path: { connection_id: made.id } },
        }),
      );
      return made;
    },
    onSuccess: async (made) => {
      toast.success(`${made.name} is connected`);
      await queries.invalidateQueries({ queryKey: ["connections"] });
      await navigate({ to: "/connections", replace: true });
    },
  });
  useEffect(() => {
    // A code can be used once.
    if (begun.current) return;
    begun.current = true;
    complete.mutate();
  }, [complete]);
  return (
    <Page title="Connect a shop">
      {complete.error ? (
        <div className="max-w-2xl space-y-4">
          <ErrorNote error={complete.error} />
          <Button asChild>
            <Link to="/connections">Go to the connections</Link>
          </Button>
        </div>
      ) : (
        <p role="status" className="text-sm text-ink-2">
          Connecting the shop …
        </p>
      )}
    </Page>
  );
}
