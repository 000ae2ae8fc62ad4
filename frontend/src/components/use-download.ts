import { useState } from "react";
import { download } from "../lib/download";
import { endingOf } from "../lib/shop-formats";
import { toast } from "./toast";

/** Saves a file that the server writes: how many bytes have come, or null, and what went wrong. */
export function useDownload(name: string) {
  const [got, setGot] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const save = async (path: string, format: string) => {
    setError(null);
    setGot(0);
    try {
      await download(path, `${name}.${endingOf(format)}`, setGot);
      toast.success("Saved to your downloads");
    } catch (problem) {
      setError(problem);
    } finally {
      setGot(null);
    }
  };
  return { got, error, save };
}
