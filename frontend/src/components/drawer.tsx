import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "../lib/cn";
import { Button } from "./button";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  actions?: ReactNode;
  wide?: boolean;
  children: ReactNode;
}

/** Beside the page, which stays as it is. */
export function Drawer({ open, onOpenChange, title, actions, wide, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fade-in fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          tabIndex={-1}
          // The drawer itself, and not its first button, as if that were to be pressed.
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            (event.currentTarget as HTMLElement).focus();
          }}
          className={cn(
            "slide-in fixed inset-y-0 right-0 z-50 flex w-full flex-col border-l bg-surface shadow-xl outline-none",
            wide ? "max-w-4xl" : "max-w-2xl",
          )}
        >
          <header className="flex min-h-14 items-center gap-2 border-b px-5 py-2">
            <Radix.Title className="min-w-0 flex-1 truncate text-lg font-semibold">{title}</Radix.Title>
            {actions}
            <Radix.Close asChild>
              <Button look="quiet" size="icon" aria-label="Close">
                <X aria-hidden />
              </Button>
            </Radix.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
