import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePrefs } from "../../lib/prefs";

export interface Line {
  label: string;
  /** A colour of the theme, such as `--accent`. */
  colour: string;
  values: (number | null)[];
}

interface Props {
  times: number[];
  lines: Line[];
  /** Shows a value at the axis. */
  shown: (value: number) => string;
  /** Says in words what the chart shows. */
  label: string;
  max?: number;
}

const HEIGHT = 140;
const TWO_DAYS = 172_800;
const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });

/** Writes moments of the time axis: as a time of day, or as a date where days are shown. */
function moment(times: number[]): (seconds: number) => string {
  const long = (times.at(-1) ?? 0) - (times[0] ?? 0) > TWO_DAYS;
  return (seconds) => (long ? day : clock).format(new Date(1000 * seconds));
}

/** Lines over time. */
/** Small values are rounded to the same text, which stands once. */
function withoutRepeats(labels: string[]): string[] {
  return labels.map((label, index) => (label === labels[index - 1] ? "" : label));
}

export function LineChart({ times, lines, shown, label, max }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const { theme } = usePrefs();
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    const colour = (name: string) => getComputedStyle(host).getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--ink-3"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
    };
    const chart = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, most) => [0, max ?? Math.max(1, most * 1.1)] } },
        series: [
          {},
          ...lines.map((line) => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 1.5,
            spanGaps: true,
            points: { show: true, size: 4, fill: colour(line.colour) },
          })),
        ],
        axes: [
          { ...axis, size: 26, values: (_, ticks) => ticks.map(moment(times)) },
          { ...axis, size: 60, values: (_, ticks) => withoutRepeats(ticks.map(shown)) },
        ],
      },
      [times, ...lines.map((line) => line.values)],
      host,
    );
    const fit = new ResizeObserver(() => chart.setSize({ width: host.clientWidth, height: HEIGHT }));
    fit.observe(host);
    return () => {
      fit.disconnect();
      chart.destroy();
    };
  }, [times, lines, shown, max, theme]);
  return <div ref={place} role="img" aria-label={label} />;
}
