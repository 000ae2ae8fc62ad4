// What pages ask the server, under one set of keys.
import { queryOptions } from "@tanstack/react-query";
import { client, ok } from "./api";

export function jobQuery(id: string) {
  return queryOptions({
    queryKey: ["job", id],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/jobs/{job_id}", { params: { path: { job_id: id } }, signal })),
  });
}

export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: ({ signal }) => ok(client.GET("/health/queue", { signal })),
  refetchInterval: 5000,
});
