// The usual ways to repeat, and the cron expression of each; other expressions are written by hand.

export const OFTEN = {
  day: "Every day",
  workday: "Every working day",
  week: "Every week",
  month: "Every month",
  hour: "Every hour",
  quarter: "Every 15 minutes",
  other: "Other (cron expression)",
} as const;
export type Often = keyof typeof OFTEN;

export const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;

export interface HowOften {
  often: Often;
  /** `06:00` */
  time: string;
  weekday: string;
  /** Day of the month, 1 to 28, or `L` for the last one. */
  day: string;
}

const USUAL: HowOften = { often: "other", time: "06:00", weekday: "MON", day: "1" };
const AT = /^([0-9]{1,2}) ([0-9]{1,2}) (\S{1,4}) \* (\S{1,8})$/;

export function howOften(cron: string): HowOften {
  const text = cron.trim();
  if (text === "*/15 * * * *") return { ...USUAL, often: "quarter" };
  if (text === "0 * * * *") return { ...USUAL, often: "hour" };
  const found = AT.exec(text);
  if (!found) return USUAL;
  const [, minute = "", hour = "", day = "", weekday = ""] = found;
  if (Number(minute) > 59 || Number(hour) > 23) return USUAL;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (day === "*" && weekday === "*") return { ...USUAL, often: "day", time };
  if (day === "*" && weekday === "MON-FRI") return { ...USUAL, often: "workday", time };
  if (day === "*" && WEEKDAYS.includes(weekday as never)) return { ...USUAL, often: "week", time, weekday };
  if (weekday === "*" && (day === "L" || (Number(day) >= 1 && Number(day) <= 28)))
    return { ...USUAL, often: "month", time, day };
  return USUAL;
}

/** The cron expression; null where it is written by hand. */
export function cronOf({ often, time, weekday, day }: HowOften): string | null {
  const [hour, minute] = time.split(":").map(Number);
  const at = `${minute ?? 0} ${hour ?? 0}`;
  switch (often) {
    case "day":
      return `${at} * * *`;
    case "workday":
      return `${at} * * MON-FRI`;
    case "week":
      return `${at} * * ${weekday}`;
    case "month":
      return `${at} ${day} * *`;
    case "hour":
      return "0 * * * *";
    case "quarter":
      return "*/15 * * * *";
    default:
      return null;
  }
}
