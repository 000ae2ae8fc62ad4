// The one way to talk to the API: typed calls, the CSRF header, and problems as one kind of error.
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.gen";

export type Schemas = components["schemas"];
export type Job = Schemas["JobShape"];
export type FullJob = Schemas["FullJob"];
export type Item = Schemas["ItemShape"];
export type ItemStatus = Item["status"];
export type JobState = Job["state"];
export type JobEvent = Schemas["EventShape"];
export type Preview = Schemas["Preview"];

export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly requestId: string | null = null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
    this.name = "ApiProblem";
  }
}

let csrfToken: string | null = null;
let onSignedOut: () => void = () => undefined;

export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** What to do when the server no longer knows this session. */
export function whenSignedOut(act: () => void): void {
  onSignedOut = act;
}

export function guardHeaders(method: string): Record<string, string> {
  return csrfToken && method !== "GET" && method !== "HEAD" ? { "X-CSRF-Token": csrfToken } : {};
}

const guarded: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(guardHeaders(request.method))) {
      request.headers.set(name, value);
    }
    return request;
  },
};

export const client = createClient<paths>({
  baseUrl: "",
  querySerializer: { array: { style: "form", explode: false } },
});
client.use(guarded);

export function unreachable(): ApiProblem {
  return new ApiProblem(0, "UNREACHABLE", "The server does not answer.");
}

export async function problemOf(response: Response, body?: unknown): Promise<ApiProblem> {
  let told = body;
  if (told === undefined) told = await response.json().catch(() => null);
  const found = told as {
    detail?: string;
    error?: { code?: string; details?: object };
    requestId?: string;
  } | null;
  const wait = Number(response.headers.get("Retry-After"));
  const problem = new ApiProblem(
    response.status,
    found?.error?.code ?? `HTTP_${response.status}`,
    found?.detail ?? `The server answered with ${response.status}.`,
    (found?.error?.details ?? {}) as Record<string, unknown>,
    found?.requestId ?? response.headers.get("X-Request-Id"),
    Number.isFinite(wait) && wait > 0 ? wait : null,
  );
  if (problem.status === 401) onSignedOut();
  return problem;
}

/** The data of a call, or an ApiProblem thrown. */
export async function ok<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let done: { data?: T; error?: unknown; response: Response };
  try {
    done = await call;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (!done.response.ok) throw await problemOf(done.response, done.error);
  return done.data as T;
}

/** For what OpenAPI cannot say: other content types, and calls that are not in the document. */
export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const method = init.method ?? "GET";
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: { ...guardHeaders(method), ...init.headers } });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}
