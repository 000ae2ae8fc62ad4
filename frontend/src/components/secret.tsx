import { Copy } from "lucide-react";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { toast } from "./toast";

/** What is shown once: it cannot be asked for again. */
export function Secret({
  title,
  value,
  note,
  onClose,
}: {
  title: string;
  value: string;
  note: string;
  onClose: () => void;
}) {
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    toast.success("Copied");
  };
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={title}
      description={note}
      footer={
        <Button look="primary" onClick={onClose}>
          I have saved it
        </Button>
      }
    >
      <div className="flex items-center gap-2 pb-2">
        <code className="min-w-0 flex-1 rounded-md border bg-sunken px-3 py-2 font-mono text-xs break-all select-all">
          {value}
        </code>
        {!!navigator.clipboard && (
          <Button size="icon" aria-label="Copy" onClick={() => void copy()}>
            <Copy aria-hidden />
          </Button>
        )}
      </div>
    </Dialog>
  );
}
