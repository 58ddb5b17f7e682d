import { formatValue } from "../../stream/format";
import type { ShownUnit } from "../../stream/views";
import type { Bar } from "./sizeBars";
import { BOTTOM, HEIGHT, LEFT, RIGHT, scaleOf, WIDTH } from "./trialScale";
import styles from "./trials.module.css";

interface SizePictureProps {
  readonly bars: readonly Bar[];
  readonly unit: ShownUnit;
}

/** What each size gave, with its 95 % confidence interval; the table below says the same. */
export function SizePicture({ bars, unit }: SizePictureProps) {
  const sizes = bars.map(({ size }) => size);
  const smallest = Math.min(...sizes);
  const largest = Math.max(...sizes);
  const margin = (largest - smallest) / 20 || 0.5;
  // An interval of two may be many times as wide as what it is of.
  const most = Math.max(...bars.map(({ rate }) => rate));
  const top = Math.min(1.5 * most, Math.max(...bars.map(({ rate, high }) => high ?? rate))) || 1;
  const { x, y, ticks } = scaleOf([smallest - margin, largest + margin], [0, 1.05 * top]);
  return (
    <svg
      className={styles.svg}
      viewBox={`0 0 ${WIDTH} ${HEIGHT - 8}`}
      aria-hidden="true"
      data-sizes={bars.length}
    >
      {ticks.map((value) => (
        <g key={value}>
          <line className={styles.grid} x1={LEFT} x2={WIDTH - RIGHT} y1={y(value)} y2={y(value)} />
          <text className={styles.tick} x={LEFT - 5} y={y(value) + 3} textAnchor="end">
            {formatValue(value, unit)}
          </text>
        </g>
      ))}
      <polyline
        className={styles.curve}
        points={bars.map(({ size, rate }) => `${x(size)},${y(rate)}`).join(" ")}
      />
      {bars.map(({ size, rate, low, high, current }) => (
        <g key={size}>
          {low === null || high === null ? null : (
            <line className={styles.interval} x1={x(size)} x2={x(size)} y1={y(low)} y2={y(high)} />
          )}
          <circle className={styles.point} cx={x(size)} cy={y(rate)} r={current ? 5 : 3.5} />
          <text
            className={styles.tick}
            x={x(size)}
            y={BOTTOM + 12}
            textAnchor="middle"
            fontWeight={current ? 700 : 400}
          >
            {size}
          </text>
        </g>
      ))}
    </svg>
  );
}
