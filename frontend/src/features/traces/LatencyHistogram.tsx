import type { TraceDurations } from "../../wire/generated/models";
import styles from "./LatencyHistogram.module.css";
import { timeText } from "./text";

interface LatencyHistogramProps {
  readonly duration: TraceDurations;
}

const HEIGHT = 72;

/** Place of a duration among the edges of the bars, which stand side by side; 0 to 1. */
export function placeAmong(bounds_ns: readonly number[], ns: number): number {
  const bars = bounds_ns.length - 1;
  if (bars < 1) return 0;
  const above = bounds_ns.findIndex((bound) => bound > ns);
  if (above === 0) return 0;
  if (above < 0) return 1;
  const from = bounds_ns[above - 1] ?? 0;
  const to = bounds_ns[above] ?? from;
  return (above - 1 + (to > from ? (ns - from) / (to - from) : 0)) / bars;
}

/** How many traces took how long; a table that is read aloud says the same. */
export function LatencyHistogram({ duration }: LatencyHistogramProps) {
  const { bounds_ns, counts } = duration.histogram;
  const most = Math.max(1, ...counts);
  const width = 100 / Math.max(1, counts.length);
  const marks = (["p50_ns", "p95_ns", "p99_ns"] as const).map((name) => ({
    name: name.slice(0, 3).toUpperCase(),
    ns: duration[name],
    left: 100 * placeAmong(bounds_ns, duration[name]),
  }));
  const [first = 0] = bounds_ns;
  return (
    <figure className={styles.figure}>
      <svg
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className={styles.bars}
        aria-hidden="true"
      >
        {counts.map((count, at) => {
          const height = count === 0 ? 0 : Math.max(1.5, (HEIGHT * count) / most);
          return (
            <rect
              key={bounds_ns[at]}
              x={at * width}
              width={Math.max(0.1, width - 0.15)}
              y={HEIGHT - height}
              height={height}
            />
          );
        })}
        {marks.map(({ name, left }) => (
          <line key={name} x1={left} x2={left} y1={0} y2={HEIGHT} data-mark={name} />
        ))}
      </svg>
      <div className={styles.axis} aria-hidden="true">
        <span>{timeText(first)}</span>
        <span>{timeText(bounds_ns.at(-1) ?? 0)}</span>
      </div>
      <table className="visually-hidden">
        <caption>Latency histogram</caption>
        <thead>
          <tr>
            <th scope="col">Duration</th>
            <th scope="col">Requests</th>
          </tr>
        </thead>
        <tbody>
          {counts.map((count, at) => (
            <tr key={bounds_ns[at]}>
              <th scope="row">
                {timeText(bounds_ns[at] ?? 0)} to {timeText(bounds_ns[at + 1] ?? 0)}
              </th>
              <td>{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
