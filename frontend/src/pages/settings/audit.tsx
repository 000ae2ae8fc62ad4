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
      empty={<EmptyState icon={ScrollText} title="Nothing was changed yet" />}
    >
      <Table
        label="Audit log"
        head={[
          { label: "When" },
          { label: "Who" },
          { label: "What" },
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
            <td className="max-w-48 truncate">{one.email ?? "the system"}</td>
            <td className="font-mono text-xs">{one.action}</td>
            <td className="hidden max-w-60 truncate font-mono text-xs sm:table-cell">{one.target}</td>
            <td className="hidden max-w-96 text-xs break-words text-ink-2 lg:table-cell">
              {one.before !== null && `${cellText(one.before)} → `}
              {cellText(one.after)}
            </td>
            <td className="hidden font-mono text-xs whitespace-nowrap md:table-cell">{one.ip}</td>
          </tr>
        ))}
      </Table>
    </List>
  );
}
