import type { FormEvent, ReactNode } from "react";
import { useAttempt } from "../lib/attempt";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { ErrorNote } from "./error-note";

interface Props {
  title: string;
  description?: ReactNode;
  action: string;
  onClose: () => void;
  /** Throws what went wrong; the dialog stays and shows it. */
  onSave: (form: FormData) => Promise<unknown>;
  children: ReactNode;
}

/** A few fields and one thing to do with them. */
export function FormDialog({ title, description, action, onClose, onSave, children }: Props) {
  const { busy, error, attempt } = useAttempt();
  const save = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    await attempt(async () => {
      await onSave(new FormData(event.currentTarget));
    });
  };
  return (
    <Dialog open onOpenChange={onClose} title={title} description={description}>
      <form onSubmit={save} className="space-y-3 pb-3">
        {children}
        {error !== null && <ErrorNote error={error} />}
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
