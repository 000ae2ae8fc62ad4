import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../../components/button";
import { Choice } from "../../../components/choice";
import { Drawer } from "../../../components/drawer";
import { ErrorNote } from "../../../components/error-note";
import { Textarea } from "../../../components/field";
import { RowsSkeleton } from "../../../components/skeleton";
import { toast } from "../../../components/toast";
import { useAttempt } from "../../../lib/attempt";
import { isPlaced, loadProfile, type Profile, putProfile } from "./draft";
import { ProfileForm } from "./form";

interface Props {
  name: string;
  canWrite: boolean;
  onClose: () => void;
  onSaved: () => void;
}

/** A profile as a form or as text. Changes are kept when the view changes. */
export function ProfileEditor({ name, canWrite, onClose, onSaved }: Props) {
  const [draft, setDraft] = useState<Profile | null>(null);
  const [text, setText] = useState<string | null>(null);
  const [isChanged, setChanged] = useState(false);
  const { busy, error, attempt } = useAttempt();
  const stored = useQuery({
    queryKey: ["profiles", "json", name],
    queryFn: ({ signal }) => loadProfile(name, signal),
    gcTime: 0,
  });
  const shown = draft ?? stored.data ?? null;
  const changeView = (next: "form" | "text") =>
    void attempt(async () => {
      if (next === "text" && shown) {
        setText(await putProfile(name, shown, { dryRun: true, asToml: true }));
      } else if (next === "form" && text !== null) {
        setDraft(JSON.parse(await putProfile(name, text, { dryRun: true })) as Profile);
        setText(null);
      }
    });
  const save = () =>
    void attempt(async () => {
      await putProfile(name, text ?? (shown as Profile));
      toast.success("Saved as a new version");
      onSaved();
      onClose();
    });
  return (
    <Drawer
      open
      onOpenChange={onClose}
      title={name}
      wide
      actions={
        canWrite && (
          <Button look="primary" busy={busy} disabled={!isChanged} onClick={save}>
            Save as a new version
          </Button>
        )
      }
    >
      <div className="space-y-4">
        {stored.error && <ErrorNote error={stored.error} onRetry={() => void stored.refetch()} />}
        {canWrite && (
          <Choice
            label="View"
            value={text === null ? "form" : "text"}
            onChange={changeView}
            options={[
              { value: "form", label: "Form" },
              { value: "text", label: "TOML" },
            ]}
          />
        )}
        {error !== null && (text !== null || !isPlaced(error)) && <ErrorNote error={error} />}
        {!shown && !stored.error && <RowsSkeleton />}
        {text !== null ? (
          <Textarea
            aria-label="Profile as TOML"
            className="min-h-[60dvh] font-mono text-xs"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setChanged(true);
              setText(event.target.value);
            }}
          />
        ) : (
          shown && (
            <ProfileForm
              profile={shown}
              readOnly={!canWrite}
              error={error}
              onChange={(next) => {
                setChanged(true);
                setDraft(next);
              }}
            />
          )
        )}
      </div>
    </Drawer>
  );
}
