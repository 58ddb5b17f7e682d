import type { LineStyle } from "./palette";

/** Operations used of a path under construction. */
interface ShapePen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
  arc(x: number, y: number, r: number, from: number, to: number): void;
  closePath(): void;
}

const R = 3.5;

/** Corners of the markers, in units of their radius; the circle has none. */
const CORNERS: Readonly<Record<LineStyle["marker"], readonly (readonly [number, number])[]>> = {
  none: [],
  circle: [],
  square: [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  triangle: [
    [0, -1.2],
    [1.1, 0.8],
    [-1.1, 0.8],
  ],
  diamond: [
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ],
  cross: [
    [-1.2, -0.4],
    [-0.4, -0.4],
    [-0.4, -1.2],
    [0.4, -1.2],
    [0.4, -0.4],
    [1.2, -0.4],
    [1.2, 0.4],
    [0.4, 0.4],
    [0.4, 1.2],
    [-0.4, 1.2],
    [-0.4, 0.4],
    [-1.2, 0.4],
  ],
};

/** Draw a marker around a point. */
export function markerPath(
  pen: ShapePen,
  marker: LineStyle["marker"],
  [x, y]: readonly [number, number],
): void {
  if (marker === "circle") {
    pen.moveTo(x + R, y);
    pen.arc(x, y, R, 0, 2 * Math.PI);
    return;
  }
  CORNERS[marker].forEach(([dx, dy], corner) => {
    if (corner === 0) pen.moveTo(x + R * dx, y + R * dy);
    else pen.lineTo(x + R * dx, y + R * dy);
  });
  if (CORNERS[marker].length > 0) pen.closePath();
}

/** `markerPath` as the `d` of an svg path. */
export function markerSvg(marker: LineStyle["marker"], x: number, y: number): string {
  const steps: string[] = [];
  markerPath(
    {
      moveTo: (px, py) => steps.push(`M${px},${py}`),
      lineTo: (px, py) => steps.push(`L${px},${py}`),
      arc: (px, py, r) =>
        steps.push(`A${r},${r} 0 1 1 ${px - r},${py}A${r},${r} 0 1 1 ${px + r},${py}`),
      closePath: () => steps.push("Z"),
    },
    marker,
    [x, y],
  );
  return steps.join("");
}

/** Sample of a line in a legend: its colour, dash and marker. */
export function Marker({ style }: { readonly style: LineStyle }) {
  if (style.fill !== undefined) {
    return (
      <svg aria-hidden="true" width={24} height={12} viewBox="0 0 24 12">
        <rect width={24} height={12} rx={2} fill={style.colour} fillOpacity={style.fill} />
        <path d="M0,1H24" stroke={style.colour} strokeWidth={2} />
      </svg>
    );
  }
  return (
    <svg aria-hidden="true" width={24} height={12} viewBox="0 0 24 12">
      <path
        d="M0,6H24"
        stroke={style.colour}
        strokeWidth={style.width}
        strokeDasharray={style.dash.join(" ")}
      />
      <path d={markerSvg(style.marker, 12, 6)} fill={style.colour} />
    </svg>
  );
}

/** The marker of a line alone, for narrow tables. */
export function SmallMarker({ style }: { readonly style: LineStyle }) {
  return (
    <svg aria-hidden="true" width={12} height={12} viewBox="0 0 12 12">
      <path d={markerSvg(style.marker, 6, 6)} fill={style.colour} />
    </svg>
  );
}
