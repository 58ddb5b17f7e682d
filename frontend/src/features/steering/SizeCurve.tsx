import { formatValue } from "../../stream/format";
import { CopyButton } from "../../ui/Controls";
import type { SweepState } from "../../wire/generated/models";
import { BOTTOM, curveTop, HEIGHT, LEFT, RIGHT, scaleOf, TOP, WIDTH } from "./trialScale";
import styles from "./trials.module.css";

/** Operations per second of each size with its interval, the knee, and its threshold. */
export function SizeCurve({ sweep }: { readonly sweep: SweepState }) {
  const { points, knee, start, line, verdict } = sweep;
  const smallest = points[0]?.size ?? 0;
  const largest = points.at(-1)?.size ?? 1;
  const margin = (largest - smallest) / 20 || 0.5;
  const { x, y, ticks } = scaleOf([smallest - margin, largest + margin], [0, curveTop(sweep)]);
  return (
    <div className={styles.picture} data-sweep={verdict} data-knee={knee ?? ""}>
      {points.length === 0 ? null : (
        <svg
          className={styles.svg}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          role="img"
          aria-label={`Size curve. ${sweep.text}`}
        >
          {ticks.map((value) => (
            <g key={value}>
              <line
                className={styles.grid}
                x1={LEFT}
                x2={WIDTH - RIGHT}
                y1={y(value)}
                y2={y(value)}
              />
              <text className={styles.tick} x={LEFT - 5} y={y(value) + 3} textAnchor="end">
                {formatValue(value, "count")}
              </text>
            </g>
          ))}
          {knee === null ? null : (
            <line className={styles.knee} x1={x(knee)} x2={x(knee)} y1={TOP} y2={BOTTOM} />
          )}
          <polyline
            className={styles.curve}
            points={points.map(({ size, ops_per_s }) => `${x(size)},${y(ops_per_s)}`).join(" ")}
          />
          {points.map(({ size, ops_per_s, low, high }) => (
            <g key={size} data-size-point={size} data-knee={size === knee}>
              <title>{`size ${size}: ${pointText(ops_per_s, low, high)}`}</title>
              {low === null || high === null ? null : (
                <line
                  className={styles.interval}
                  x1={x(size)}
                  x2={x(size)}
                  y1={y(low)}
                  y2={y(high)}
                />
              )}
              <circle className={styles.point} cx={x(size)} cy={y(ops_per_s)} r={3.5} />
              <text className={styles.tick} x={x(size)} y={BOTTOM + 12} textAnchor="middle">
                {size}
              </text>
            </g>
          ))}
          <text className={styles.tick} x={WIDTH - RIGHT} y={HEIGHT - 2} textAnchor="end">
            size{start >= smallest && start <= largest ? ` (${start} before)` : ""}
          </text>
          <text className={styles.tick} x={2} y={TOP - 4}>
            ops/s
          </text>
        </svg>
      )}
      <p>{sweep.text}</p>
      {line === null || verdict !== "decided" ? null : (
        <p className={styles.line}>
          <code>{line}</code>
          <CopyButton text={line} what="the line" />
        </p>
      )}
    </div>
  );
}

function pointText(ops_per_s: number, low: number | null, high: number | null): string {
  const interval =
    low === null || high === null
      ? ""
      : `, ${formatValue(low, "count")} to ${formatValue(high, "count")}`;
  return `${formatValue(ops_per_s, "count")} ops/s${interval}`;
}
