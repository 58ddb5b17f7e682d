import styles from "./TracesPage.module.css";

const HEIGHT = 72;

/** Position of a value among the edges of equally wide bars; 0 to 1. */
function placeAmong(bounds: readonly number[], value: number): number {
  const bars = bounds.length - 1;
  if (bars < 1) return 0;
  const above = bounds.findIndex((bound) => bound > value);
  if (above === 0) return 0;
  if (above < 0) return 1;
  const from = bounds[above - 1] ?? 0;
  const to = bounds[above] ?? from;
  return (above - 1 + (to > from ? (value - from) / (to - from) : 0)) / bars;
}

interface HistogramProps {
  readonly caption: string;
  /** Heading of the values. */
  readonly of: string;
  /** Heading of the counts. */
  readonly counted: string;
  /** Edges of the bars, one more than counts. */
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly text: (value: number) => string;
  readonly marks: readonly { readonly name: string; readonly value: number }[];
}

/** Counts by value; a table with the same data is read to screen readers. */
export function Histogram({ caption, of, counted, bounds, counts, text, marks }: HistogramProps) {
  const most = Math.max(1, ...counts);
  const width = 100 / Math.max(1, counts.length);
  const [first = 0] = bounds;
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
              key={bounds[at]}
              x={at * width}
              width={Math.max(0.1, width - 0.15)}
              y={HEIGHT - height}
              height={height}
            />
          );
        })}
        {marks.map(({ name, value }) => {
          const left = 100 * placeAmong(bounds, value);
          return <line key={name} x1={left} x2={left} y1={0} y2={HEIGHT} data-mark={name} />;
        })}
      </svg>
      <div className={styles.axis} aria-hidden="true">
        <span>{text(first)}</span>
        <span>{text(bounds.at(-1) ?? 0)}</span>
      </div>
      <table className="visually-hidden">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{of}</th>
            <th scope="col">{counted}</th>
          </tr>
        </thead>
        <tbody>
          {counts.map((count, at) => (
            <tr key={bounds[at]}>
              <th scope="row">
                {text(bounds[at] ?? 0)} to {text(bounds[at + 1] ?? 0)}
              </th>
              <td>{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
