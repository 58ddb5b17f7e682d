import type { ChartTheme } from "../../chart/palette";
import { partStyle } from "../../chart/palette";
import { BUCKETS, lowerOf, upperOf } from "../../stream/facts/stayHistogram";
import { counted, formatValue } from "../../stream/format";
import type { LedgerRow, StaysView, ThreadView } from "../../stream/threadView";
import { partName } from "../../stream/timeParts";
import styles from "./StayHistograms.module.css";

interface StayHistogramsProps {
  readonly view: ThreadView;
  readonly theme: ChartTheme;
}

/** How long the stays of a thread in each state were. */
export function StayHistograms({ view, theme }: StayHistogramsProps) {
  const shown = view.rows.filter((row) => row.stays !== null);
  return (
    <section aria-label="Lengths of stays">
      <h3>Lengths of stays</h3>
      <p className={styles.note}>
        Stays that ended in view, in buckets of powers of two; percentiles are interpolated within
        their bucket.
      </p>
      {shown.length === 0 ? <p className={styles.note}>None ended in view.</p> : null}
      <ul className={styles.list}>
        {shown.map((row) =>
          row.stays === null ? null : (
            <Histogram key={row.part} row={row} stays={row.stays} theme={theme} />
          ),
        )}
      </ul>
    </section>
  );
}

interface HistogramProps {
  readonly row: LedgerRow;
  readonly stays: StaysView;
  readonly theme: ChartTheme;
}

/** Ticks of the axis: the bucket that begins at about this length. */
const TICKS = [
  [1, "1 µs"],
  [11, "1 ms"],
  [21, "1 s"],
] as const;

const PLACES: readonly number[] = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

function Histogram({ row, stays, theme }: HistogramProps) {
  const { buckets, count, p50_s, p95_s, p99_s } = stays;
  const most = buckets.reduce((a, b) => Math.max(a, b), 0);
  const { colour } = partStyle(row.part, theme);
  const percentiles = [
    ["p50", p50_s],
    ["p95", p95_s],
    ["p99", p99_s],
  ] as const;
  return (
    <li data-stays={row.part}>
      <p className={styles.title}>
        <span>{partName(row.part)}</span>
        <span className={styles.count}>{counted(count, "stay")}</span>
      </p>
      <div className={styles.bars} role="img" aria-label={bucketsText(buckets)}>
        {PLACES.map((bucket) => {
          const value = buckets[bucket] ?? 0;
          return (
            <span
              key={bucket}
              className={styles.bucket}
              title={value > 0 ? `${rangeText(bucket)}: ${value}` : undefined}
            >
              <span
                className={styles.bar}
                style={{
                  height: value > 0 ? `${Math.max(4, (100 * value) / most)}%` : 0,
                  background: colour,
                }}
              />
            </span>
          );
        })}
      </div>
      <div className={styles.axis} aria-hidden="true">
        {TICKS.map(([bucket, label]) => (
          <span key={label} style={{ left: `${(100 * bucket) / BUCKETS}%` }}>
            {label}
          </span>
        ))}
      </div>
      <dl className={styles.percentiles}>
        {percentiles.map(([name, seconds]) => (
          <div key={name} data-percentile={name}>
            <dt>{name}</dt>
            <dd>{formatValue(seconds, "s")}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function rangeText(bucket: number): string {
  const lower = formatValue(lowerOf(bucket), "s");
  const upper = upperOf(bucket);
  return Number.isFinite(upper) ? `${lower} to ${formatValue(upper, "s")}` : `${lower} and longer`;
}

/** The buckets that have stays, for those who do not see them. */
function bucketsText(buckets: Float64Array): string {
  return Array.from(buckets, (value, bucket) => (value > 0 ? `${rangeText(bucket)}: ${value}` : ""))
    .filter(Boolean)
    .join(", ");
}
