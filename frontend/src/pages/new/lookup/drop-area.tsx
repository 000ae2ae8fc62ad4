import { ScanBarcode } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { Button } from "../../../components/button";
import { cn } from "../../../lib/cn";

/** Drop photos or a list, or choose them; on a phone, take a photo. */
export function DropArea({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFiles([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the button is the way for all
    <div
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={cn(
        "flex flex-col items-center rounded-lg border-2 border-dashed border-line-strong bg-surface px-4 py-10 text-center",
        over && "border-accent bg-accent-soft",
      )}
    >
      <ScanBarcode className="mb-3 size-8 text-ink-3" aria-hidden />
      <p className="text-base font-medium">Drop photos or a list here</p>
      <p className="mt-1 max-w-md text-sm text-ink-2">
        Photos are read for barcodes (EAN, UPC, QR), else compared with the pictures of the catalog. A ZIP
        archive may contain many. A list is a CSV, Excel or any other file with a column of GTINs, SKUs, part
        numbers or titles.
      </p>
      <Button look="primary" className="mt-4" onClick={() => input.current?.click()}>
        Choose files
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        aria-label="Photos or a list"
        className="hidden"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = "";
          onFiles(files);
        }}
      />
    </div>
  );
}
