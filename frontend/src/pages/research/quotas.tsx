import { useQuery } from "@tanstack/react-query";
import { Card } from "../../components/page";
import { ProgressBar } from "../../components/progress";
import { count } from "../../lib/format";
import { quotaQuery } from "../../lib/research";

const NAMES: Record<string, string> = {
  "user.day": "You, today",
  "user.month": "You, this month",
  "org.day": "Your org, today",
  "org.month": "Your org, this month",
};

/** How many requests are left. */
export function Quotas() {
  const quotas = useQuery(quotaQuery);
  return (
    <Card className="p-4">
      <h2 className="mb-3 text-base font-semibold">Quotas</h2>
      <ul className="space-y-3">
        {(quotas.data ?? []).map((one) => (
          <li key={one.name}>
            <div className="flex justify-between gap-3 text-sm">
              <span>{NAMES[one.name] ?? one.name}</span>
              <span className="text-ink-2 tabular-nums">
                {count(one.used)} {one.limit === null ? "requests" : `of ${count(one.limit)}`}
              </span>
            </div>
            {one.limit !== null && (
              <ProgressBar
                value={one.limit === 0 ? 100 : Math.min(100, (100 * one.used) / one.limit)}
                label={NAMES[one.name] ?? one.name}
                className="mt-1"
              />
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
