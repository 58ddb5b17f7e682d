import { sparkBand, sparkPath, sparkTop } from "./sparkPath";

/** Props of `Sparkline` (chart/Sparkline.tsx): a small line, an svg with aria-hidden. */
export interface SparklineProps {
  readonly values: Float32Array;
  readonly width?: number;
  readonly height?: number;
  /** Line colour; default currentColor. */
  readonly colour?: string;
  /** Normal range: a band behind the line between two values. */
  readonly band?: readonly [number, number] | undefined;
}

/** A small line beside a number, hidden from screen readers, which read the number. */
export function Sparkline({
  values,
  width = 96,
  height = 24,
  colour = "currentColor",
  band,
}: SparklineProps) {
  const expected = band ? sparkBand(band, sparkTop(values), height) : null;
  return (
    <svg
      aria-hidden="true"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
    >
      {expected === null ? null : (
        <rect
          x={0}
          y={expected.y}
          width={width}
          height={expected.height}
          fill={colour}
          opacity={0.13}
        />
      )}
      <path
        d={sparkPath(values, width, height)}
        fill="none"
        stroke={colour}
        strokeWidth={1.25}
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
