import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Pencil, PlugZap, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { Confirm } from "../../components/dialog";
import { MenuItem, MenuLine } from "../../components/menu";
import { Card } from "../../components/page";
import { CardHeader, Fact, Facts, LastError, MoreMenu } from "../../components/service-card";
import { Badge } from "../../components/status";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { count, share } from "../../lib/format";
import { healthQuery, type Source } from "../../lib/research";
import { CONNECTION_LOOKS } from "../../lib/shops";
import { SourceEditor } from "./editor";
import { TestDialog } from "./test-dialog";

const CIRCUITS: Record<string, string> = { closed: "Closed", open: "Open", half_open: "Probing" };

/** One source: whether it works, its limit and circuit, and what can be done with it. */
export function SourceCard({ source, canWrite }: { source: Source; canWrite: boolean }) {
  const queries = useQueryClient();
  const health = useQuery(healthQuery(source.id));
  const [asking, setAsking] = useState<"test" | "edit" | "delete" | null>(null);
  const again = () => queries.invalidateQueries({ queryKey: ["sources"] });
  const look = CONNECTION_LOOKS[source.status];
  const told = health.data;
  return (
    <Card className="flex h-full flex-col gap-3 p-4">
      <CardHeader
        title={source.title}
        address={String(source.config.url)}
        subtitle={
          <>
            {source.format.toUpperCase()} · {String(source.config.url).replace(/^https?:\/\//, "")}
          </>
        }
      >
        {!source.enabled && <Badge tone="skipped">Disabled</Badge>}
        <Badge tone={look.tone}>
          <look.icon className="size-3" aria-hidden /> {look.word}
        </Badge>
      </CardHeader>
      <Facts>
        <Fact name="Circuit">{told ? (CIRCUITS[String(told.circuit.state)] ?? "–") : "–"}</Fact>
        <Fact name="Calls, 15 min">{told ? count(told.calls) : "–"}</Fact>
        <Fact name="Failed">{told?.errorRate ? share(told.errorRate) : "none"}</Fact>
        <Fact name="p95">{told?.p95Ms ? `${count(told.p95Ms)} ms` : "–"}</Fact>
        <Fact name="Limit">{String((source.config.limits as { rate?: string })?.rate ?? "60/min")}</Fact>
        <Fact name="Last test">
          <Time at={source.testedAt} />
        </Fact>
      </Facts>
      <LastError error={source.error} />
      {canWrite && (
        <footer className="mt-auto flex flex-wrap items-center gap-2 pt-1">
          <Button size="sm" look="primary" onClick={() => setAsking("test")}>
            <PlugZap aria-hidden /> Test
          </Button>
          {source.mayChange && (
            <MoreMenu name={source.title}>
              <MenuItem icon={Pencil} onSelect={() => setAsking("edit")}>
                Edit
              </MenuItem>
              <MenuLine />
              <MenuItem icon={Trash2} danger onSelect={() => setAsking("delete")}>
                Delete
              </MenuItem>
            </MoreMenu>
          )}
        </footer>
      )}
      {asking === "test" && (
        <TestDialog
          source={source}
          onClose={() => {
            setAsking(null);
            void again();
          }}
        />
      )}
      {asking === "edit" && (
        <SourceEditor
          source={source}
          onClose={() => setAsking(null)}
          onSaved={() => {
            setAsking(null);
            void again();
          }}
        />
      )}
      <Confirm
        open={asking === "delete"}
        onOpenChange={() => setAsking(null)}
        title={`Delete ${source.title}?`}
        action="Delete"
        danger
        onConfirm={async () => {
          await ok(client.DELETE("/api/sources/{source_id}", { params: { path: { source_id: source.id } } }));
          toast.success("The source is deleted");
          void again();
        }}
      >
        <p>The credentials are deleted. Results of earlier requests stay.</p>
      </Confirm>
    </Card>
  );
}
