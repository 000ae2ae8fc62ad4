import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Toaster } from "./components/toast";
import { ApiProblem, whenSignedOut } from "./lib/api";
import { live } from "./lib/live";
import { applyTheme, prefs } from "./lib/prefs";
import { sessionQuery } from "./lib/session";
import { makeRouter } from "./router";
import "./styles.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2000,
      refetchOnWindowFocus: true,
      // What is permanently wrong does not get better by asking again.
      retry: (count, error) =>
        count < 3 && !(error instanceof ApiProblem && error.status >= 400 && error.status < 500),
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5000),
    },
  },
});
const router = makeRouter(queries);

whenSignedOut(() => {
  if (!queries.getQueryData(sessionQuery.queryKey)) return;
  live.end();
  queries.setQueryData(sessionQuery.queryKey, null);
  void router.navigate({ to: "/login", search: { next: router.state.location.href } });
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (prefs().theme === "system") applyTheme();
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <Toaster />
      </QueryClientProvider>
    </StrictMode>,
  );
}
