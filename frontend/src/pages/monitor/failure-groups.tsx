import { Link } from "@tanstack/react-router";
import { Card } from "../../components/page";
import { Table } from "../../components/table";
import { Time } from "../../components/time";
import type { Schemas } from "../../lib/api";
import { count } from "../../lib/format";

/** Failed jobs of the last day, by pipeline and cause. */
export function FailureGroups({ groups }: { groups: Schemas["Monitor"]["failureGroups"] }) {
  if (groups.length === 0) return null;
  return (
    <section aria-labelledby="failure-groups">
      <h2 id="failure-groups" className="mb-2 text-base font-semibold">
        Failures of the last day, by cause
      </h2>
      <Card className="overflow-hidden">
        <Table
          label="Failures by cause"
          head={[
            { label: "Cause" },
            { label: "Pipeline" },
            { label: "Jobs", className: "text-right" },
            { label: "Last", className: "hidden sm:table-cell" },
            { label: "Latest job" },
          ]}
        >
          {groups.map((one) => (
            <tr key={`${one.pipeline} ${one.code}`}>
              <td className="font-mono text-xs text-error">{one.code}</td>
              <td>{one.pipeline}</td>
              <td className="text-right">{count(one.jobs)}</td>
              <td className="hidden whitespace-nowrap text-ink-2 sm:table-cell">
                <Time at={one.lastAt} />
              </td>
              <td>
                <Link to="/jobs/$jobId" params={{ jobId: one.jobIds[0] ?? "" }} className="plain-link">
                  Open
                </Link>
              </td>
            </tr>
          ))}
        </Table>
      </Card>
    </section>
  );
}
