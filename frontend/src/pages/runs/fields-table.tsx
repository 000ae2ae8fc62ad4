import { Card } from "../../components/page";
import { Table } from "../../components/table";
import { cellText } from "../../lib/format";
import { label } from "../../lib/labels";

interface Origin {
  source?: unknown;
  confidence?: unknown;
}

/** What was extracted from a page, and where each field comes from. */
export function FieldsTable({
  fields,
  lineage,
}: {
  fields: Record<string, unknown>;
  lineage: Record<string, unknown>;
}) {
  const rows = Object.entries(fields).filter(([, value]) => value !== null && cellText(value) !== "");
  if (rows.length === 0) return <p className="text-sm text-ink-2">Nothing was extracted.</p>;
  return (
    <Card className="overflow-hidden">
      <Table
        label="Extracted fields"
        head={[
          { label: "Field" },
          { label: "Value" },
          { label: "Source" },
          { label: "Confidence", className: "text-right" },
        ]}
      >
        {rows.map(([name, value]) => {
          const from = (lineage[name] ?? {}) as Origin;
          return (
            <tr key={name} className="align-top">
              <td className="whitespace-nowrap text-ink-2">{label(name)}</td>
              <td className="max-w-md break-words">
                <Value value={value} />
              </td>
              <td className="text-xs leading-5 text-ink-2">{cellText(from.source)}</td>
              <td className="text-right whitespace-nowrap tabular-nums">
                {typeof from.confidence === "number" ? `${Math.round(100 * from.confidence)} %` : ""}
              </td>
            </tr>
          );
        })}
      </Table>
    </Card>
  );
}

function Value({ value }: { value: unknown }) {
  const text =
    Array.isArray(value) && value.every((one) => typeof one === "string")
      ? value.join(", ")
      : cellText(value);
  return <span className="line-clamp-4">{text}</span>;
}
