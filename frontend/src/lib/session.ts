// Who is signed in. The cookie is the browser's; the CSRF token is kept in memory only.
import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { ApiProblem, send, setCsrfToken } from "./api";

export interface Session {
  user: {
    id: number;
    email: string;
    role: "admin" | "member" | "viewer";
    org: { name: string; plan: string };
  };
  csrfToken: string | null;
  flags: { globalPending: boolean };
}

async function heard(response: Response): Promise<Session> {
  const session = (await response.json()) as Session;
  setCsrfToken(session.csrfToken);
  return session;
}

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async (): Promise<Session | null> => {
    try {
      return await heard(await send("/api/session"));
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export async function signIn(email: string, password: string): Promise<Session> {
  return heard(
    await send("/api/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email, password }),
    }),
  );
}

export async function signOut(): Promise<void> {
  await send("/api/session", { method: "DELETE" });
  setCsrfToken(null);
}

/** The session of a page behind the login. */
export function useSession(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data) throw new ApiProblem(401, "AUTHENTICATION_FAILED", "You are signed out.");
  return data;
}

export function useMaybeSession(): Session | null {
  return useQuery(sessionQuery).data ?? null;
}

/** Viewers read; everyone else may change what they own. */
export function useCanWrite(): boolean {
  return useMaybeSession()?.user.role !== "viewer";
}
