import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/button";
import { Field, Input } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { Card } from "../../components/page";
import { ProgressBar } from "../../components/progress";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { count } from "../../lib/format";
import { quotaQuery } from "../../lib/research";
import { useSession } from "../../lib/session";

const NAMES: Record<string, string> = {
  "user.day": "You, today",
  "user.month": "You, this month",
  "org.day": "Your org, today",
  "org.month": "Your org, this month",
};

const LABELS: Record<string, string> = {
  "user.day": "Each user, per day",
  "user.month": "Each user, per month",
  "org.day": "The org, per day",
  "org.month": "The org, per month",
};

/** How many requests are left. Admins set other limits. */
export function Quotas() {
  const queries = useQueryClient();
  const admin = useSession().user.role === "admin";
  const [editing, setEditing] = useState(false);
  const quotas = useQuery(quotaQuery);
  const save = async (form: FormData) => {
    const limit = (name: string) => {
      const text = String(form.get(name) ?? "").trim();
      return text === "" ? null : Number(text);
    };
    const body = {
      userDay: limit("user.day"),
      userMonth: limit("user.month"),
      orgDay: limit("org.day"),
      orgMonth: limit("org.month"),
    };
    await ok(client.PUT("/api/research/quota", { body }));
    toast.success("The quotas are changed");
    setEditing(false);
    void queries.invalidateQueries({ queryKey: quotaQuery.queryKey });
  };
  return (
    <Card className="p-4">
      <header className="mb-3 flex items-center justify-between gap-3">
        <h2 className="text-base font-semibold">Quotas</h2>
        {admin && (
          <Button size="sm" onClick={() => setEditing(true)}>
            Change
          </Button>
        )}
      </header>
      <ul className="space-y-3">
        {(quotas.data ?? []).map((one) => (
          <li key={one.name}>
            <div className="flex justify-between gap-3 text-sm">
              <span>{NAMES[one.name] ?? one.name}</span>
              <span className="text-ink-2 tabular-nums">
                {count(one.used)} {one.limit === null ? "requests" : `of ${count(one.limit)}`}
              </span>
            </div>
            {one.limit !== null && (
              <ProgressBar
                value={one.limit === 0 ? 100 : Math.min(100, (100 * one.used) / one.limit)}
                label={NAMES[one.name] ?? one.name}
                className="mt-1"
              />
            )}
          </li>
        ))}
      </ul>
      {editing && (
        <FormDialog
          title="Quotas of your org"
          description="Research requests. Empty: the default of the installation."
          action="Save"
          onClose={() => setEditing(false)}
          onSave={save}
        >
          <div className="grid gap-3 sm:grid-cols-2">
            {(quotas.data ?? []).map((one) => (
              <Field key={one.name} label={LABELS[one.name] ?? one.name}>
                {(ids) => (
                  <Input
                    {...ids}
                    name={one.name}
                    type="number"
                    min={0}
                    defaultValue={one.own ?? ""}
                    placeholder={one.limit === null ? "any number" : String(one.limit)}
                  />
                )}
              </Field>
            ))}
          </div>
        </FormDialog>
      )}
    </Card>
  );
}
