import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Field, Input, Select } from "../../components/field";
import { client, ok } from "../../lib/api";
import { cronOf, type HowOften, howOften, OFTEN, type Often, WEEKDAYS } from "../../lib/how-often";
import { timeZones } from "../../lib/schedules";

interface Props {
  cron: string;
  zone: string;
  onCron: (cron: string) => void;
  onZone: (zone: string) => void;
}

const TIMED: ReadonlySet<Often> = new Set(["day", "workday", "week", "month"]);
// 1 January 2024 was a Monday.
const dayName = (place: number) =>
  new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(
    new Date(Date.UTC(2024, 0, 1 + place)),
  );

/** How often a schedule runs: a usual way, or a cron expression, with the next runs. */
export function HowOftenFields({ cron, zone, onCron, onZone }: Props) {
  const [chosen, setChosen] = useState(() => howOften(cron));
  const change = (part: Partial<HowOften>) => {
    const next = { ...chosen, ...part };
    setChosen(next);
    const made = cronOf(next);
    if (made !== null) onCron(made);
  };
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Field label="How often">
          {(ids) => (
            <Select
              {...ids}
              value={chosen.often}
              onChange={(event) => change({ often: event.target.value as Often })}
            >
              {Object.entries(OFTEN).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {TIMED.has(chosen.often) && (
          <Field label="At">
            {(ids) => (
              <Input
                {...ids}
                type="time"
                required
                value={chosen.time}
                onChange={(event) => event.target.value && change({ time: event.target.value })}
              />
            )}
          </Field>
        )}
        {chosen.often === "week" && (
          <Field label="On">
            {(ids) => (
              <Select
                {...ids}
                value={chosen.weekday}
                onChange={(event) => change({ weekday: event.target.value })}
              >
                {WEEKDAYS.map((one, place) => (
                  <option key={one} value={one}>
                    {dayName(place)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        {chosen.often === "month" && (
          <Field label="Day of the month">
            {(ids) => (
              <Select {...ids} value={chosen.day} onChange={(event) => change({ day: event.target.value })}>
                {Array.from({ length: 28 }, (_, place) => (
                  <option key={place}>{place + 1}</option>
                ))}
                <option value="L">Last day</option>
              </Select>
            )}
          </Field>
        )}
        {chosen.often === "other" && (
          <Field label="Cron expression" hint="Minute, hour, day of month, month, day of week.">
            {(ids) => (
              <Input
                {...ids}
                value={cron}
                required
                maxLength={200}
                spellCheck={false}
                className="font-mono"
                onChange={(event) => onCron(event.target.value)}
              />
            )}
          </Field>
        )}
      </div>
      <NextRuns cron={cron} zone={zone} />
      <Field label="Time zone">
        {(ids) => (
          <Select {...ids} value={zone} onChange={(event) => onZone(event.target.value)}>
            {timeZones().map((one) => (
              <option key={one}>{one}</option>
            ))}
          </Select>
        )}
      </Field>
    </>
  );
}

function NextRuns({ cron, zone }: { cron: string; zone: string }) {
  const found = useQuery({
    queryKey: ["next runs", cron, zone],
    queryFn: ({ signal }) =>
      ok(client.POST("/api/schedules/next-runs", { body: { cron, timeZone: zone }, signal })),
    enabled: cron.trim() !== "",
    retry: false,
    staleTime: 60_000,
  });
  if (found.error) return <p className="text-xs text-error">{found.error.message}</p>;
  if (!found.data) return null;
  const shown = new Intl.DateTimeFormat(undefined, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: zone,
  });
  const times = found.data.nextRuns.slice(0, 3).map((one) => shown.format(new Date(one)));
  return <p className="text-xs text-ink-2">Next: {times.join(" · ")}</p>;
}
