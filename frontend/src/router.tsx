import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { Button } from "./components/button";
import { EmptyState } from "./components/empty";
import { ErrorNote } from "./components/error-note";
import { RowsSkeleton } from "./components/skeleton";
import { PRODUCTS_SEARCH, type ProductsSearch } from "./lib/products";
import { sessionQuery } from "./lib/session";

interface Context {
  queries: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet, notFoundComponent: NotThere });

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (search: Record<string, unknown>): { next?: string } => texts(search, "next"),
  component: lazyRouteComponent(() => import("./pages/login/login")),
});

/** Everything behind the login. */
const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (!session)
      throw redirect({ to: "/login", search: location.href === "/" ? {} : { next: location.href } });
  },
  component: lazyRouteComponent(() => import("./components/shell")),
  notFoundComponent: NotThere,
});

const home = createRoute({
  getParentRoute: () => inside,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/jobs" });
  },
});

export interface JobsSearch {
  state?: string;
  pipeline?: string;
  /** In the name. */
  q?: string;
}

const jobs = createRoute({
  getParentRoute: () => inside,
  path: "/jobs",
  validateSearch: (search: Record<string, unknown>): JobsSearch => texts(search, "state", "pipeline", "q"),
  component: lazyRouteComponent(() => import("./pages/jobs/jobs")),
});

export interface JobSearch {
  tab?: string;
  statuses?: string;
  code?: string;
  problem?: string;
  q?: string;
  row?: number;
}

const job = createRoute({
  getParentRoute: () => inside,
  path: "/jobs/$jobId",
  validateSearch: (search: Record<string, unknown>): JobSearch => ({
    ...texts(search, "tab", "statuses", "code", "problem", "q"),
    ...(Number.isInteger(search.row) && Number(search.row) > 0 ? { row: Number(search.row) } : {}),
  }),
  component: lazyRouteComponent(() => import("./pages/job/job")),
});

export interface WizardSearch {
  /** `shop`: a connected shop instead of a file; `crawl`: web pages; `lookup`: find products. */
  source?: string;
  /** The connection. */
  shop?: string;
  file?: string;
  name?: string;
  step?: string;
  sample?: boolean;
}

const wizard = createRoute({
  getParentRoute: () => inside,
  path: "/new",
  validateSearch: (search: Record<string, unknown>): WizardSearch => ({
    ...texts(search, "source", "shop", "file", "name", "step"),
    ...(search.sample ? { sample: true } : {}),
  }),
  component: lazyRouteComponent(() => import("./pages/new/wizard")),
});

const letters = createRoute({
  getParentRoute: () => inside,
  path: "/dead-letters",
  validateSearch: (search: Record<string, unknown>): { group?: string; letter?: string } =>
    texts(search, "group", "letter"),
  component: lazyRouteComponent(() => import("./pages/letters/letters")),
});

const products = createRoute({
  getParentRoute: () => inside,
  path: "/products",
  validateSearch: (search: Record<string, unknown>): ProductsSearch => texts(search, ...PRODUCTS_SEARCH),
  component: lazyRouteComponent(() => import("./pages/products/products")),
});

const product = createRoute({
  getParentRoute: () => inside,
  path: "/products/$productId",
  component: lazyRouteComponent(() => import("./pages/products/product")),
});

const connections = createRoute({
  getParentRoute: () => inside,
  path: "/connections",
  component: lazyRouteComponent(() => import("./pages/connections/connections")),
});

/** Where the browser comes back to after a merchant has granted access. */
const install = createRoute({
  getParentRoute: () => inside,
  path: "/connections/install",
  component: lazyRouteComponent(() => import("./pages/connections/install")),
});

const runs = createRoute({
  getParentRoute: () => inside,
  path: "/runs",
  component: lazyRouteComponent(() => import("./pages/runs/runs")),
});

const run = createRoute({
  getParentRoute: () => inside,
  path: "/runs/$runId",
  component: lazyRouteComponent(() => import("./pages/runs/run")),
});

const pages = createRoute({
  getParentRoute: () => inside,
  path: "/pages",
  validateSearch: (search: Record<string, unknown>): { company?: string } => texts(search, "company"),
  component: lazyRouteComponent(() => import("./pages/runs/pages")),
});

const page = createRoute({
  getParentRoute: () => inside,
  path: "/pages/$pageId",
  component: lazyRouteComponent(() => import("./pages/runs/page")),
});

const postings = createRoute({
  getParentRoute: () => inside,
  path: "/postings",
  validateSearch: (search: Record<string, unknown>): { q?: string; state?: string; run?: string } =>
    texts(search, "q", "state", "run"),
  component: lazyRouteComponent(() => import("./pages/postings/postings")),
});

const research = createRoute({
  getParentRoute: () => inside,
  path: "/research",
  component: lazyRouteComponent(() => import("./pages/research/research")),
});

const researchResult = createRoute({
  getParentRoute: () => inside,
  path: "/research/$jobId",
  component: lazyRouteComponent(() => import("./pages/research/result")),
});

const sources = createRoute({
  getParentRoute: () => inside,
  path: "/sources",
  component: lazyRouteComponent(() => import("./pages/sources/sources")),
});

const watchers = createRoute({
  getParentRoute: () => inside,
  path: "/watchers",
  validateSearch: (search: Record<string, unknown>): { watcher?: string } => texts(search, "watcher"),
  component: lazyRouteComponent(() => import("./pages/watchers/watchers")),
});

const schedules = createRoute({
  getParentRoute: () => inside,
  path: "/schedules",
  component: lazyRouteComponent(() => import("./pages/schedules/schedules")),
});

const providers = createRoute({
  getParentRoute: () => inside,
  path: "/providers",
  component: lazyRouteComponent(() => import("./pages/providers/providers")),
});

const monitor = createRoute({
  getParentRoute: () => inside,
  path: "/monitor",
  component: lazyRouteComponent(() => import("./pages/monitor/monitor")),
});

const webhooks = createRoute({
  getParentRoute: () => inside,
  path: "/webhooks",
  validateSearch: (search: Record<string, unknown>): { endpoint?: string } => texts(search, "endpoint"),
  component: lazyRouteComponent(() => import("./pages/webhooks/webhooks")),
});

export interface PendingSearch {
  status?: string;
  owner?: string;
  type?: string;
  job?: string;
  from?: string;
  to?: string;
}

const pending = createRoute({
  getParentRoute: () => inside,
  path: "/pending",
  validateSearch: (search: Record<string, unknown>): PendingSearch =>
    texts(search, "status", "owner", "type", "job", "from", "to"),
  component: lazyRouteComponent(() => import("./pages/pending/pending")),
});

const settingsHome = createRoute({
  getParentRoute: () => inside,
  path: "/settings",
  beforeLoad: () => {
    throw redirect({ to: "/settings/$part", params: { part: "keys" } });
  },
});

const settings = createRoute({
  getParentRoute: () => inside,
  path: "/settings/$part",
  validateSearch: (search: Record<string, unknown>): { profile?: string } => texts(search, "profile"),
  component: lazyRouteComponent(() => import("./pages/settings/settings")),
});

/** Of a URL's parameters, those that are texts and not empty. */
function texts(search: Record<string, unknown>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(
    names
      .map((name) => [name, search[name]])
      .filter((pair): pair is [string, string] => !!pair[1] && typeof pair[1] === "string"),
  );
}

const tree = root.addChildren([
  login,
  inside.addChildren([
    ...[home, jobs, job, wizard, pending, letters, products, product],
    ...[connections, install, watchers, providers],
    ...[runs, run, pages, page, postings],
    ...[research, researchResult, sources, schedules],
    ...[monitor, webhooks, settingsHome, settings],
  ]),
]);

export function makeRouter(queries: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { queries },
    defaultPreload: "intent",
    defaultErrorComponent: ({ error, reset }) => (
      <div className="mx-auto max-w-2xl p-6">
        <ErrorNote error={error} onRetry={reset} />
      </div>
    ),
    defaultPendingComponent: () => <RowsSkeleton />,
    defaultPendingMs: 300,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}

function NotThere() {
  return (
    <EmptyState
      icon={Compass}
      title="Page not found"
      action={
        <Button asChild>
          <a href="/jobs">Go to jobs</a>
        </Button>
      }
    >
      Check the address, or go to the list of jobs.
    </EmptyState>
  );
}
