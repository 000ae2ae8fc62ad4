// Templates of exports: which columns, in which order, by which names.
import { useQuery } from "@tanstack/react-query";
import { client, ok, type Schemas } from "./api";

export type ExportTemplate = Schemas["TemplateList"]["items"][number];

export function useTemplates() {
  return useQuery({
    queryKey: ["export-templates"],
    queryFn: ({ signal }) => ok(client.GET("/api/export-templates", { signal })),
    staleTime: 30_000,
  });
}

/** A list with one entry moved by a step; the same where it would leave the list. */
export function moved<T>(list: readonly T[], from: number, step: number): T[] {
  const to = from + step;
  const next = [...list];
  if (to < 0 || to >= list.length) return next;
  const [one] = next.splice(from, 1);
  next.splice(to, 0, one as T);
  return next;
}
