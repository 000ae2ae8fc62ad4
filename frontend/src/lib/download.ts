// A file as it is written by the server, with how much of it has come.
import { send } from "./api";

export async function download(path: string, fallback: string, tell: (bytes: number) => void): Promise<void> {
  const response = await send(path, { method: "POST" });
  save(await read(response, tell), nameOf(response) ?? fallback);
}

async function read(response: Response, tell: (bytes: number) => void): Promise<Blob> {
  const reader = response.body?.getReader();
  if (!reader) return response.blob();
  const pieces: BlobPart[] = [];
  let size = 0;
  let told = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    size += value.length;
    if (Date.now() - told > 250) {
      told = Date.now();
      tell(size);
    }
  }
  return new Blob(pieces, { type: response.headers.get("Content-Type") ?? "" });
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function nameOf(response: Response): string | null {
  const told = response.headers.get("Content-Disposition") ?? "";
  const full = /filename\*=UTF-8''([^;]+)/.exec(told)?.[1];
  if (full) return decodeURIComponent(full);
  return /filename="([^"]+)"/.exec(told)?.[1] ?? null;
}
