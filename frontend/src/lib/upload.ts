// A file on its way: only XMLHttpRequest tells how much of it has gone.
import { type ApiProblem, guardHeaders, problemOf, type Schemas, unreachable } from "./api";

export type StoredFile = Schemas["StoredFile"];

export function uploadFile(
  file: File,
  tell: (share: number) => void,
  signal: AbortSignal,
): Promise<StoredFile> {
  return new Promise((resolve, reject: (problem: ApiProblem | DOMException) => void) => {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file);
    request.open("POST", "/api/files");
    for (const [name, value] of Object.entries(guardHeaders("POST"))) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => event.lengthComputable && tell(event.loaded / event.total);
    request.onload = () => {
      const answer = new Response(request.responseText, {
        status: request.status,
        headers: { "Retry-After": request.getResponseHeader("Retry-After") ?? "" },
      });
      if (request.status >= 200 && request.status < 300)
        resolve(JSON.parse(request.responseText) as StoredFile);
      else void problemOf(answer).then(reject);
    };
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("The upload was stopped.", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}
