import { useNavigate } from "@tanstack/react-router";
import { Upload } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Card, Page } from "../../components/page";
import { send } from "../../lib/api";
import { useCanWrite } from "../../lib/session";

export default function Wizard() {
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (!canWrite) {
    return (
      <Page title="New job">
        <EmptyState icon={Upload} title="Viewers read, and change nothing">
          Ask an admin of your organisation for the role “member” to upload files.
        </EmptyState>
      </Page>
    );
  }
  const upload = async (file: File) => {
    setBusy(true);
    setError(null);
    try {
      const form = new FormData();
      form.append("file", file);
      const made = (await (await send("/api/jobs", { method: "POST", body: form })).json()) as {
        jobId: string;
      };
      await navigate({ to: "/jobs/$jobId", params: { jobId: made.jobId } });
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Page title="New job" lead="Check a supplier's file. Nothing is written to the catalog.">
      <Card className="p-6">
        <label className="flex flex-col items-center gap-3 text-sm">
          Choose a file: CSV, Excel, OpenDocument, JSON or XML
          <input
            type="file"
            disabled={busy}
            onChange={(event) => event.target.files?.[0] && void upload(event.target.files[0])}
          />
        </label>
        {busy && <Button busy>Uploading</Button>}
        {error !== null && <ErrorNote error={error} className="mt-4" />}
      </Card>
    </Page>
  );
}
