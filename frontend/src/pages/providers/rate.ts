/** `2 calls a second, 40 at once`: slow rates are told by the minute. */
export function rateText(limit: { perSecond: number; burst: number }): string {
  const often =
    limit.perSecond >= 2
      ? `${number(limit.perSecond)} calls a second`
      : `${number(limit.perSecond * 60)} calls a minute`;
  return `${often}, ${number(limit.burst)} at once`;
}

function number(value: number): string {
  return String(Math.round(value * 10) / 10);
}
