import { type ChartTheme, colourStyle } from "../../chart/palette";
import { formatNumber, formatValue } from "../../stream/format";
import type { PoolRow } from "../../stream/poolsView";
import type { ShownUnit } from "../../stream/views";
import styles from "./pools.module.css";

interface Plot {
  readonly t0_s: number;
  readonly t1_s: number;
  /** Seconds since attach, ascending. */
  readonly time_s: Float64Array;
  readonly width: number;
  readonly height: number;
  /** Value at the upper edge. */
  readonly most: number;
}

/** Straight segments between values, with gaps at missing ones. */
export function linePath(plot: Plot, values: Float64Array): string {
  return path(plot, values, (x, y) => `L${x} ${y}`);
}

/** Steps: each value holds until the next one. */
export function stepPath(plot: Plot, values: Float64Array): string {
  const last = values.findLast((value) => !Number.isNaN(value));
  const drawn = path(plot, values, (x, y) => `H${x}V${y}`);
  return drawn === "" || last === undefined ? drawn : `${drawn}H${plot.width}`;
}

function path(plot: Plot, values: Float64Array, to: (x: number, y: number) => string): string {
  const { t0_s, t1_s, time_s, width, height, most } = plot;
  let drawn = "";
  let pen = false;
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) {
      pen = false;
      continue;
    }
    const t_s = time_s[i] ?? Number.NaN;
    const x = round((width * (Math.max(t_s, t0_s) - t0_s)) / (t1_s - t0_s));
    const y = round(height * (1 - value / most));
    drawn += pen ? to(x, y) : `M${x} ${y}`;
    pen = true;
  }
  return drawn;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

const WIDTH = 600;
const HEIGHT = 84;

interface PoolChartsProps {
  readonly row: PoolRow;
  /** Span of the time axis, in seconds since attach. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly colours: ChartTheme;
}

interface Line {
  readonly name: string;
  readonly values: Float64Array;
  readonly steps: boolean;
}

/** Size of a pool, whoever changes it, with busy workers; operations and queue waits below. */
export function PoolCharts({ row, t0_s, t1_s, colours }: PoolChartsProps) {
  const { time_s, size, busy, finished_per_s, submitted_per_s, ait_s } = row.series;
  const plot = { t0_s, t1_s, time_s, width: WIDTH, height: HEIGHT };
  return (
    <div className={styles.charts}>
      <Chart
        title="Size"
        unit="count"
        plot={plot}
        colours={colours}
        lines={[
          { name: "size", values: size, steps: true },
          { name: "busy", values: busy, steps: true },
        ]}
      />
      <Chart
        title="Operations"
        unit="1/s"
        plot={plot}
        colours={colours}
        lines={[
          { name: "finished", values: finished_per_s, steps: false },
          { name: "submitted", values: submitted_per_s, steps: false },
        ]}
      />
      <Chart
        title="Queue wait, mean"
        unit="s"
        plot={plot}
        colours={colours}
        lines={[{ name: "AIT", values: ait_s, steps: false }]}
      />
    </div>
  );
}

interface ChartProps {
  readonly title: string;
  readonly unit: ShownUnit;
  readonly plot: Omit<Plot, "most">;
  readonly lines: readonly Line[];
  readonly colours: ChartTheme;
}

function Chart({ title, unit, plot, lines, colours }: ChartProps) {
  const shown = lines.filter(({ values }) => values.some((value) => !Number.isNaN(value)));
  if (shown.length === 0) return null;
  const values = shown.flatMap((line) => [...line.values]).filter((value) => !Number.isNaN(value));
  const most = Math.max(...values) || 1;
  const last = (line: Line) => line.values.at(-1) ?? Number.NaN;
  const text = (value: number) =>
    unit === "s" ? formatValue(value, unit) : formatNumber(value, unit);
  const said = shown.map((line) => `${line.name} ${text(last(line))}`).join(", ");
  return (
    <figure className={styles.chart}>
      <figcaption>
        <strong>{title}</strong>
        <span className={styles.most}>to {text(most)}</span>
        {shown.map((line, i) => (
          <span key={line.name} className={styles.key} data-line={i}>
            <svg aria-hidden="true" viewBox="0 0 16 4" width="16" height="4">
              <path d="M0 2H16" {...strokeOf(colours, i)} strokeWidth="2" />
            </svg>
            {line.name} {text(last(line))}
          </span>
        ))}
      </figcaption>
      <svg
        role="img"
        aria-label={`${title}: ${said}; at most ${text(most)}`}
        viewBox={`0 0 ${plot.width} ${plot.height}`}
        preserveAspectRatio="none"
      >
        <path d={`M0 ${plot.height}H${plot.width}`} className={styles.axis} />
        {shown.map((line, i) => (
          <path
            key={line.name}
            d={(line.steps ? stepPath : linePath)({ ...plot, most: 1.1 * most }, line.values)}
            fill="none"
            {...strokeOf(colours, i)}
            strokeWidth={1.5}
            strokeLinejoin="round"
            vectorEffect="non-scaling-stroke"
          />
        ))}
      </svg>
    </figure>
  );
}

/** Style of a line: the first one is prominent, the second one dashed behind it. */
function strokeOf(colours: ChartTheme, line: number) {
  return line === 0
    ? { stroke: colourStyle(0, colours).colour }
    : { stroke: colours.others, strokeDasharray: "5 3" };
}
