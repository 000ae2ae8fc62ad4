import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command, defaultFilter } from "cmdk";
import { FileSpreadsheet, Package, Plus, SunMoon } from "lucide-react";
import { Dialog } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { client, ok } from "../lib/api";
import { useCanWrite } from "../lib/session";
import type { NavEntry } from "../nav";
import { JobPill } from "./status";
import { cycleTheme } from "./theme-button";

const ITEM =
  "flex h-9 cursor-default items-center gap-2.5 rounded px-2.5 text-sm data-[selected=true]:bg-hover [&>svg]:size-4 [&>svg]:text-ink-3";

const PRODUCT = "product:";

/** The server has matched the products; what was typed need not be in what is shown. */
function score(value: string, search: string, keywords?: string[]): number {
  return value.startsWith(PRODUCT) ? 1 : defaultFilter(value, search, keywords);
}

export default function Palette({ onClose, pages }: { onClose: () => void; pages: NavEntry[] }) {
  const navigate = useNavigate();
  const canWrite = useCanWrite();
  const jobs = useQuery({
    queryKey: ["jobs", "palette"],
    queryFn: ({ signal }) => ok(client.GET("/api/jobs", { params: { query: { pageSize: 100 } }, signal })),
  }).data?.items;
  const [typed, setTyped] = useState("");
  const words = useDeferredValue(typed.trim());
  const products = useQuery({
    queryKey: ["products", "palette", words],
    queryFn: ({ signal }) =>
      ok(client.GET("/api/products", { params: { query: { q: words, pageSize: 5 } }, signal })),
    enabled: words.length >= 2,
    staleTime: 10_000,
  }).data?.items;
  const go = (act: () => unknown) => () => {
    onClose();
    act();
  };
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Overlay className="fade-in fixed inset-0 z-40 bg-scrim" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fade-in fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl -translate-x-1/2 overflow-hidden rounded-lg border bg-surface shadow-xl"
        >
          <Dialog.Title className="sr-only">Search or run a command</Dialog.Title>
          <Command label="Search or run a command" filter={score} loop>
            <Command.Input
              autoFocus
              value={typed}
              onValueChange={setTyped}
              placeholder="Search products, jobs, pages and commands …"
              className="h-11 w-full border-b bg-transparent px-4 text-base outline-none placeholder:text-ink-3"
            />
            <Command.List className="max-h-[50vh] overflow-y-auto p-2">
              <Command.Empty className="px-3 py-6 text-center text-sm text-ink-2">
                No results. Products are searched by title, SKU and GTIN, jobs by name among the newest 100.
              </Command.Empty>
              {canWrite && (
                <Command.Item
                  className={ITEM}
                  value="new job upload file"
                  onSelect={go(() => navigate({ to: "/new" }))}
                >
                  <Plus aria-hidden /> New job
                </Command.Item>
              )}
              {pages.map((page) => (
                <Command.Item
                  key={page.to}
                  className={ITEM}
                  value={`go to ${page.label}`}
                  onSelect={go(() => navigate({ to: page.to }))}
                >
                  <page.icon aria-hidden /> Go to {page.label}
                </Command.Item>
              ))}
              <Command.Item className={ITEM} value="theme light dark" onSelect={go(cycleTheme)}>
                <SunMoon aria-hidden /> Switch between light and dark theme
              </Command.Item>
              {jobs?.map((job) => (
                <Command.Item
                  key={job.id}
                  className={ITEM}
                  value={`${job.name} ${job.id}`}
                  onSelect={go(() => navigate({ to: "/jobs/$jobId", params: { jobId: job.id } }))}
                >
                  <FileSpreadsheet aria-hidden />
                  <span className="min-w-0 flex-1 truncate">{job.name}</span>
                  <JobPill state={job.state} />
                </Command.Item>
              ))}
              {words.length >= 2 &&
                products?.map((product) => (
                  <Command.Item
                    key={product.id}
                    className={ITEM}
                    // The same while typing: an item that changes its value loses the selection.
                    value={`${PRODUCT}${product.id}`}
                    onSelect={go(() =>
                      navigate({ to: "/products/$productId", params: { productId: product.id } }),
                    )}
                  >
                    <Package aria-hidden />
                    <span className="min-w-0 flex-1 truncate">{product.title}</span>
                    <span className="font-mono text-xs text-ink-2">{product.sku ?? product.sourceId}</span>
                  </Command.Item>
                ))}
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
