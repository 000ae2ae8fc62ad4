const numbers = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function count(value: number): string {
  return numbers.format(value);
}

export function compact(value: number): string {
  return value < 10_000 ? numbers.format(value) : short.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** Rows a second: 1,234/s, 0.4/s. */
export function perSecond(value: number): string {
  return `${value < 10 ? value.toFixed(1) : count(Math.round(value))}/s`;
}

export function percent(value: number): string {
  return `${value >= 99.95 || value === 0 ? Math.round(value) : value.toFixed(1)} %`;
}

/** How full something is; only what is whole is said to be. */
export function share(part: number): string {
  return `${part >= 1 ? 100 : Math.min(99, Math.round(100 * part))} %`;
}

/** An amount of money as shops send it: cents have two digits. */
export function amount(text: string): string {
  return /^-?\d+\.\d$/.test(text) ? `${text}0` : text;
}

/** A cell as one line of text, whatever it holds. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}
