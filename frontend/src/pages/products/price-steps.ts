const MARGIN = 6;

/** A stepped line through prices over time, up to now, and the places of the changes. */
export function stepPath(
  times: number[],
  amounts: number[],
  now: number,
  width: number,
  height: number,
): { path: string; dots: [number, number][] } {
  const begin = times[0] ?? now;
  const span = Math.max(1, now - begin);
  const low = Math.min(...amounts);
  const range = Math.max(...amounts) - low || 1;
  const x = (time: number) => round(((time - begin) / span) * width);
  const y = (amount: number) => round(height - MARGIN - ((amount - low) / range) * (height - 2 * MARGIN));
  const dots = times.map((time, place): [number, number] => [x(time), y(amounts[place] as number)]);
  const [start, ...rest] = dots;
  if (!start) return { path: "", dots };
  const steps = rest.map(([right, up]) => `H${right}V${up}`).join("");
  return { path: `M${start[0]} ${start[1]}${steps}H${round(width)}`, dots };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
