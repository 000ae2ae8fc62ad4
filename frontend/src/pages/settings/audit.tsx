import { useInfiniteQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { EmptyState } from "../../components/empty";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { client, ok } from "../../lib/api";
import { cellText } from "../../lib/format";

/** Every change: who, when, from where, before and after. */
export default function Audit() {
  const log = useInfiniteQuery({
    queryKey: ["audit"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/audit", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = log.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <List
      query={log}
      rows={rows.length}
      more="Earlier entries"
      empty={<EmptyState icon={ScrollText} title="No entries yet" />}
    >
      <Table
        label="Audit log"
        head={[
          { label: "When" },
          { label: "Who" },
          { label: "What", className: "hidden sm:table-cell" },
          { label: "On", className: "hidden sm:table-cell" },
          { label: "Before → after", className: "hidden lg:table-cell" },
          { label: "From", className: "hidden md:table-cell" },
        ]}
      >
        {rows.map((one) => (
          <tr key={one.id} className="align-top">
            <td className="whitespace-nowrap text-ink-2">
              <Time at={one.at} />
            </td>
            <td className="max-w-48 truncate">
              {one.email ?? "the system"}
              <span className="block font-mono text-xs text-ink-2 sm:hidden">{one.action}</span>
            </td>
            <td className="hidden font-mono text-xs leading-5 whitespace-nowrap sm:table-cell">
              {one.action}
            </td>
            <td
              className="hidden max-w-48 truncate font-mono text-xs leading-5 sm:table-cell"
              title={one.target}
            >
              {one.target}
            </td>
            <td className="hidden w-full max-w-0 truncate text-ink-2 lg:table-cell" title={told(one)}>
              {told(one)}
            </td>
            <td className="hidden font-mono text-xs leading-5 whitespace-nowrap md:table-cell">{one.ip}</td>
          </tr>
        ))}
      </Table>
    </List>
  );
}

function told(entry: { before: unknown; after: unknown }): string {
  const [before, after] = [said(entry.before), said(entry.after)];
  return before && after ? `${before} → ${after}` : before || after;
}

/** “name: Spring list, pipeline: extraction”; what is nested stays JSON. */
function said(value: unknown): string {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return cellText(value);
  return Object.entries(value)
    .filter(([, one]) => one !== null && one !== "")
    .map(([name, one]) => `${name}: ${cellText(one)}`)
    .join(", ");
}
