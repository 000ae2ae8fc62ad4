import { useQuery } from "@tanstack/react-query";
import { client, ok, type Schemas } from "../../lib/api";
import { price } from "./price";
import { stepPath } from "./price-steps";

type Point = Schemas["PricePointShape"];

const WIDTH = 480;
const HEIGHT = 120;
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric" });

/** The prices that a product had, as a stepped line with a table for those who do not see it. */
export function PriceChart({ productId, version }: { productId: string; version: number }) {
  const prices = useQuery({
    queryKey: ["products", "prices", productId, version],
    queryFn: ({ signal }) =>
      ok(
        client.GET("/api/products/{product_id}/prices", {
          params: { path: { product_id: productId } },
          signal,
        }),
      ),
  });
  const points = (prices.data?.items ?? []).filter((one) => one.amount !== null);
  const last = points.at(-1);
  // Amounts of several currencies do not belong on one axis.
  const shown = points.filter((one) => one.currency === last?.currency);
  if (shown.length < 2 || !last) return null;
  return (
    <section>
      <h2 className="mb-2 text-base font-semibold">Price history</h2>
      <div className="rounded-lg border bg-surface p-3">
        <Chart points={shown} />
        <details className="mt-2 text-sm">
          <summary className="text-ink-2">{shown.length} prices as a table</summary>
          <table className="mt-1 w-full">
            <thead className="text-left text-xs text-ink-2">
              <tr>
                <th scope="col" className="font-medium">
                  From
                </th>
                <th scope="col" className="text-right font-medium">
                  Price
                </th>
              </tr>
            </thead>
            <tbody className="divide-y">
              {shown.toReversed().map((one) => (
                <tr key={one.at}>
                  <td className="py-1">{day.format(new Date(one.at))}</td>
                  <td className="py-1 text-right tabular-nums">{price(one)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </div>
    </section>
  );
}

function Chart({ points }: { points: Point[] }) {
  const amounts = points.map((one) => Number(one.amount));
  const at = (amount: number) => price(points[amounts.indexOf(amount)]);
  const [low, high] = [at(Math.min(...amounts)), at(Math.max(...amounts))];
  const times = points.map((one) => Date.parse(one.at));
  const { path, dots } = stepPath(times, amounts, Date.now(), WIDTH, HEIGHT);
  const first = points[0] as Point;
  const last = points.at(-1) as Point;
  const words = `Price from ${price(first)} to ${price(last)}; lowest ${low}, highest ${high}`;
  return (
    <figure>
      <div className="flex justify-between text-xs text-ink-2 tabular-nums" aria-hidden>
        <span>{high}</span>
        <span>now {price(last)}</span>
      </div>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        className="h-28 w-full overflow-visible text-accent"
        preserveAspectRatio="none"
        role="img"
        aria-label={words}
      >
        <path
          d={path}
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          vectorEffect="non-scaling-stroke"
        />
        {dots.map(([x, y], place) => (
          <path
            key={place}
            d={`M${x} ${y}h0`}
            stroke="currentColor"
            strokeWidth="6"
            strokeLinecap="round"
            vectorEffect="non-scaling-stroke"
          >
            <title>
              {day.format(new Date(times[place] as number))}: {price(points[place])}
            </title>
          </path>
        ))}
      </svg>
      <div className="flex justify-between text-xs text-ink-2" aria-hidden>
        <span>
          {day.format(new Date(times[0] as number))} · {low}
        </span>
        <span>today</span>
      </div>
    </figure>
  );
}
