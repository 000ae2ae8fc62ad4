import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { usePrefs } from "../../lib/prefs";

interface Minute {
  at: string;
  rows: number;
}

const hours = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

function clock(seconds: number): string {
  return hours.format(new Date(1000 * seconds));
}

/** Rows by minute. The same is said in words below it. */
export function Chart({ minutes }: { minutes: Minute[] }) {
  const place = useRef<HTMLDivElement>(null);
  const { theme } = usePrefs();
  useEffect(() => {
    const host = place.current;
    if (!host) return;
    const colour = (name: string) => getComputedStyle(host).getPropertyValue(name).trim();
    const line = {
      stroke: colour("--ink-3"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
    };
    const chart = new uPlot(
      {
        width: host.clientWidth,
        height: 160,
        // Room for the last label of the axis.
        padding: [8, 22, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        series: [
          {},
          {
            label: "Rows",
            fill: colour("--accent"),
            width: 0,
            paths: uPlot.paths.bars?.({ size: [0.8, 16] }),
            points: { show: false },
          },
        ],
        axes: [
          { ...line, size: 26, values: (_, times) => times.map(clock) },
          { ...line, size: 56 },
        ],
      },
      [minutes.map((one) => Date.parse(one.at) / 1000), minutes.map((one) => one.rows)],
      host,
    );
    const fit = new ResizeObserver(() => chart.setSize({ width: host.clientWidth, height: 160 }));
    fit.observe(host);
    return () => {
      fit.disconnect();
      chart.destroy();
    };
  }, [minutes, theme]);
  return <div ref={place} role="img" aria-label="Rows finished in each of the last sixty minutes" />;
}
