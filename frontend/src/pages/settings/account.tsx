import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Checkbox, Field, Input, Select } from "../../components/field";
import { Card } from "../../components/page";
import { Facts } from "../../components/table";
import { toast } from "../../components/toast";
import { client, ok } from "../../lib/api";
import { useSession } from "../../lib/session";
import { Sessions } from "./sessions";

/** Yourself, your organisation, and what is switched on here. */
export default function Account() {
  const session = useSession();
  return (
    <div className="space-y-6">
      <div className="grid max-w-4xl gap-5 lg:grid-cols-2">
        <section className="space-y-2">
          <h2 className="text-base font-semibold">You</h2>
          <Facts
            facts={[
              ["E-mail", session.user.email],
              ["Role", session.user.role],
              ["Organisation", `${session.user.org.name} (${session.user.org.plan})`],
              ["Pending page", session.flags.globalPending ? "on" : "off: PENSTOCK_GLOBAL_PENDING"],
            ]}
          />
          <Sharing admin={session.user.role === "admin"} />
        </section>
        <Password />
      </div>
      <Sessions />
    </div>
  );
}

function Sharing({ admin }: { admin: boolean }) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const org = useQuery({
    queryKey: ["org"],
    queryFn: ({ signal }) => ok(client.GET("/api/org", { signal })),
  });
  const set = async (change: { sharedJobs?: boolean; catalogKey?: "sku" | "gtin" | "none" }) => {
    setError(null);
    try {
      await ok(client.PATCH("/api/org", { body: change }));
      void queries.invalidateQueries({ queryKey: ["org"] });
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Card className="p-3">
      <label className="flex items-start gap-2 text-sm">
        <Checkbox
          className="mt-0.5"
          checked={org.data?.sharedJobs ?? false}
          disabled={!admin || !org.data}
          onChange={(event) => void set({ sharedJobs: event.target.checked })}
        />
        <span>
          <span className="font-medium">Members see each other's jobs</span>
          <span className="block text-xs text-ink-3">
            {admin ? "If off, members see only their own jobs." : "Only admins can change this."}
          </span>
        </span>
      </label>
      <Field
        label="Products of several sources"
        hint={
          admin
            ? "With a shared key, files of one supplier can change products of another."
            : "Only admins can change this."
        }
        className="mt-3"
      >
        {(ids) => (
          <Select
            {...ids}
            value={org.data?.catalogKey ?? "none"}
            disabled={!admin || !org.data}
            onChange={(event) => void set({ catalogKey: event.target.value as "sku" | "gtin" | "none" })}
          >
            <option value="none">Each source keeps its own; links are proposed</option>
            <option value="sku">The same SKU is the same product</option>
            <option value="gtin">The same GTIN is the same product</option>
          </Select>
        )}
      </Field>
      {(org.error ?? error) !== null && <ErrorNote error={org.error ?? error} className="mt-2" />}
    </Card>
  );
}

function Password() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const target = event.currentTarget;
    const form = new FormData(target);
    setBusy(true);
    setError(null);
    try {
      await ok(
        client.POST("/api/users/me/password", {
          body: { current: String(form.get("current")), new: String(form.get("new")) },
        }),
      );
      target.reset();
      toast.success("Password changed. Your other sessions are signed out.");
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={change} className="space-y-3">
      <h2 className="text-base font-semibold">Change your password</h2>
      <Field label="Current password">
        {(ids) => <Input {...ids} name="current" type="password" required autoComplete="current-password" />}
      </Field>
      <Field label="New password" hint="At least 12 characters.">
        {(ids) => (
          <Input {...ids} name="new" type="password" required minLength={12} autoComplete="new-password" />
        )}
      </Field>
      {error !== null && <ErrorNote error={error} />}
      <Button type="submit" busy={busy}>
        Change password
      </Button>
    </form>
  );
}
