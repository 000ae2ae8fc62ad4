import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { Button } from "../../components/button";
import { ErrorNote } from "../../components/error-note";
import { Field, Input } from "../../components/field";
import { Mark } from "../../components/mark";
import { sessionQuery, signIn } from "../../lib/session";

export default function Login() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { next } = useSearch({ from: "/login" });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  useEffect(() => {
    document.title = "Sign in – Penstock";
  }, []);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(null);
    try {
      const session = await signIn(String(form.get("email")), String(form.get("password")));
      queries.clear();
      queries.setQueryData(sessionQuery.queryKey, session);
      // Only a path of this site: an address from elsewhere must not be followed.
      const target = next?.startsWith("/") && !next.startsWith("//") ? next : "/jobs";
      await navigate({ href: target });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };

  return (
    <main className="flex min-h-full items-center justify-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <Mark className="size-9" />
          <div>
            <h1 className="text-xl leading-6 font-semibold">Penstock</h1>
            <p className="text-sm text-ink-2">Supplier files in, clean products out.</p>
          </div>
        </div>
        <form onSubmit={submit} className="space-y-4 rounded-lg border bg-surface p-5">
          <Field label="E-mail">
            {(ids) => <Input {...ids} name="email" type="email" autoComplete="username" required autoFocus />}
          </Field>
          <Field label="Password">
            {(ids) => (
              <Input {...ids} name="password" type="password" autoComplete="current-password" required />
            )}
          </Field>
          {error !== null && <ErrorNote error={error} />}
          <Button look="primary" type="submit" busy={busy} className="w-full">
            Sign in
          </Button>
        </form>
        <p className="mt-4 text-xs text-ink-3">
          <code className="font-mono">make up</code> prints the first admin's e-mail and password, or the file
          that has the password. Others get theirs from an admin, under Settings.
        </p>
      </div>
    </main>
  );
}
