import { Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "./button";
import { Confirm, Dialog } from "./dialog";
import { toast } from "./toast";

interface Props {
  title: string;
  value: string;
  note: string;
  onClose: () => void;
  /** Makes another one. Without it, the secret is shown only this once. */
  onRotate?: () => Promise<unknown>;
}

/** A secret to copy. */
export function Secret({ title, value, note, onClose, onRotate }: Props) {
  const [asking, setAsking] = useState(false);
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
        <>
          {onRotate && <Button onClick={() => setAsking(true)}>Replace</Button>}
          <Button look="primary" onClick={onClose}>
            {onRotate ? "Close" : "I have saved it"}
          </Button>
        </>
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
      {onRotate && (
        <Confirm
          open={asking}
          onOpenChange={() => setAsking(false)}
          title="Replace the secret?"
          action="Replace"
          danger
          onConfirm={async () => {
            await onRotate();
            toast.success("The secret is replaced");
          }}
        >
          <p>The old secret stops working at once. Systems that verify signatures need the new one.</p>
        </Confirm>
      )}
    </Dialog>
  );
}
