import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useState } from "react";
import { cn } from "../lib/cn";
import { Button } from "./button";
import { ErrorNote } from "./error-note";

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  children?: ReactNode;
  footer?: ReactNode;
  wide?: boolean;
}

export function Dialog({ open, onOpenChange, title, description, children, footer, wide }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fade-in fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          className={cn(
            "fade-in fixed top-1/2 left-1/2 z-50 flex max-h-[88dvh] w-[calc(100vw-32px)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border bg-surface shadow-xl",
            wide ? "max-w-3xl" : "max-w-md",
          )}
          {...(description ? {} : { "aria-describedby": undefined })}
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lg font-semibold">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-1 text-sm text-ink-2">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <Button look="quiet" size="icon-sm" aria-label="Close" className="-mr-2">
                <X aria-hidden />
              </Button>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-2">{children}</div>
          {footer && <footer className="flex flex-wrap justify-end gap-2 px-5 pt-2 pb-4">{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ConfirmProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  children: ReactNode;
  action: string;
  danger?: boolean;
  /** Runs; the dialog stays open and shows what went wrong if it throws. */
  onConfirm: () => Promise<unknown>;
}

export function Confirm({ open, onOpenChange, title, children, action, danger, onConfirm }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const change = (next: boolean) => {
    setError(null);
    onOpenChange(next);
  };
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onOpenChange(false);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onOpenChange={change}
      title={title}
      footer={
        <>
          <Button onClick={() => change(false)}>{action.startsWith("Cancel") ? "Back" : "Cancel"}</Button>
          <Button look={danger ? "danger" : "primary"} busy={busy} onClick={run}>
            {action}
          </Button>
        </>
      }
    >
      <div className="space-y-3 text-sm text-ink-2">
        {children}
        {error !== null && <ErrorNote error={error} />}
      </div>
    </Dialog>
  );
}
