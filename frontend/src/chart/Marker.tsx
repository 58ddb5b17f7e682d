import { markerSvg } from "./markerPath";
import type { LineStyle } from "./palette";

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
