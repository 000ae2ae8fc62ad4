import { useCallback, useEffect, useRef, useState } from "react";
import { MOST_FILES } from "../../../lib/lookup";
import { randomId } from "../../../lib/random";
import { uploadFile } from "../../../lib/upload";

/** A file of the lookup: `id` once it is stored, `preview` if it is a picture. */
export interface Chosen {
  key: string;
  file: File;
  id: string | null;
  share: number;
  error: string | null;
  preview: string | null;
}

const AT_ONCE = 3;

/** The chosen files, sent a few at a time. */
export function useUploads() {
  const [files, setFiles] = useState<Chosen[]>([]);
  const [tooMany, setTooMany] = useState(false);
  const sending = useRef(new Map<string, AbortController>());
  const change = useCallback(
    (key: string, part: Partial<Chosen>) =>
      setFiles((now) => now.map((one) => (one.key === key ? { ...one, ...part } : one))),
    [],
  );

  useEffect(() => {
    const waiting = files.filter((one) => !one.id && !one.error && !sending.current.has(one.key));
    for (const one of waiting.slice(0, AT_ONCE - sending.current.size)) {
      const stop = new AbortController();
      sending.current.set(one.key, stop);
      uploadFile(one.file, (share) => change(one.key, { share }), stop.signal)
        .then((stored) => change(one.key, { id: stored.id, share: 1 }))
        .catch((problem: Error) => {
          if (!stop.signal.aborted) change(one.key, { error: problem.message });
        })
        .finally(() => {
          sending.current.delete(one.key);
          setFiles((now) => [...now]);
        });
    }
  }, [files, change]);

  useEffect(
    () => () => {
      for (const stop of sending.current.values()) stop.abort();
    },
    [],
  );

  const add = (added: File[]) => {
    const room = MOST_FILES - files.length;
    setTooMany(added.length > room);
    setFiles((now) => [
      ...now,
      ...added.slice(0, room).map((file) => ({
        key: randomId(),
        file,
        id: null,
        share: 0,
        error: null,
        preview: file.type.startsWith("image/") ? URL.createObjectURL(file) : null,
      })),
    ]);
  };
  const remove = (key: string) => {
    sending.current.get(key)?.abort();
    setTooMany(false);
    setFiles((now) => {
      const gone = now.find((one) => one.key === key);
      if (gone?.preview) URL.revokeObjectURL(gone.preview);
      return now.filter((one) => one.key !== key);
    });
  };
  const retry = (key: string) => change(key, { error: null, share: 0 });
  return { files, tooMany, add, remove, retry };
}
