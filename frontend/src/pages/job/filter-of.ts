interface Search {
  tab?: string;
  statuses?: string;
  code?: string;
  q?: string;
}

/** What the page's filter asks of an export; nothing where all rows are in sight. */
export function filterOf({ tab, statuses, code, q }: Search): string {
  if ((tab ?? "results") !== "results" && tab !== "errors") return "";
  const asked = Object.entries({ statuses, code, q }).filter((one): one is [string, string] => !!one[1]);
  if (asked.length && tab === "errors") asked.push(["statuses", "ERROR,NOT_FOUND"]);
  return new URLSearchParams(asked).toString();
}
