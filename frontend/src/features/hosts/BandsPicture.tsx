import { useRef } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { groupColours } from "../../chart/stateColours";
import { useResize } from "../../chart/useResize";
import { formatValue, shownRate } from "../../stream/format";
import type { FleetAcross, FleetValue } from "../../wire/generated/models";
import { bandPath, linePath, topOf } from "./bands";
import styles from "./Hosts.module.css";

const HEIGHT = 220;
const LEFT = 76;
const BOTTOM = 20;
const TOP = 8;
/** Outliers with a curve and a name. */
const MAX_NAMED = 4;
const DASHES = ["", "6 3", "2 3", "8 3 2 3"] as const;

interface BandsPictureProps {
  readonly across: FleetAcross;
  readonly odd: readonly FleetValue[];
}

/** A role's counter on all hosts: band of the middle hosts, median, and outliers. */
export function BandsPicture({ across, odd }: BandsPictureProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useResize(place);
  const colours = CHART_THEMES[useStore(theme)];
  const named = odd.slice(0, MAX_NAMED).flatMap((host) => {
    const curve = across.curves.find((one) => one.host === host.host);
    return curve === undefined ? [] : [{ name: host.name, values: curve.values }];
  });
  const lines = [across.p90, across.median, ...named.map(({ values }) => values)];
  const top = topOf(lines) || 1;
  const steps = across.median.length;
  const x = (at: number) => LEFT + (Math.max(0, width - LEFT - 8) * at) / Math.max(1, steps - 1);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top);
  const text = (value: number) => {
    const shown = shownRate(across.counter, value);
    return formatValue(shown.value, shown.unit);
  };
  const line = colours.dark ? "#4aa0f5" : "#1c86dd";
  const outlier = groupColours(colours.dark).runnable;
  const time = (us: number) =>
    new Date(us / 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
  const ends = [0, 0.5, 1].map((share) => ({
    share,
    at: across.from_us + share * (across.to_us - across.from_us),
  }));
  return (
    <div ref={place} className={styles.bands}>
      {width === 0 ? null : (
        <svg
          role="img"
          width={width}
          height={HEIGHT}
          aria-label={`${across.label} of ${across.hosts.length} hosts over time: band from the 10th to the 90th percentile, and the median`}
        >
          {[0, 0.5, 1].map((share) => (
            <g key={share}>
              <line
                x1={LEFT}
                x2={width - 8}
                y1={y(share * top)}
                y2={y(share * top)}
                stroke={colours.grid}
              />
              <text
                x={LEFT - 6}
                y={y(share * top) + 4}
                textAnchor="end"
                fill={colours.muted}
                fontSize="11"
              >
                {text(share * top)}
              </text>
            </g>
          ))}
          {ends.map(({ share, at }) => (
            <text
              key={share}
              x={x(share * (steps - 1))}
              y={HEIGHT - 4}
              textAnchor={share === 0 ? "start" : share === 1 ? "end" : "middle"}
              fill={colours.muted}
              fontSize="11"
            >
              {time(at)}
            </text>
          ))}
          <path d={bandPath(across.p10, across.p90, x, y)} fill={line} opacity={0.25} />
          <path d={linePath(across.median, x, y)} fill="none" stroke={line} strokeWidth={2} />
          {named.map(({ name, values }, at) => (
            <path
              key={name}
              d={linePath(values, x, y)}
              fill="none"
              stroke={outlier}
              strokeWidth={1.5}
              strokeDasharray={DASHES[at]}
            />
          ))}
        </svg>
      )}
      <ul className={styles.legend} aria-label="Lines">
        <li>
          <span className={styles.swatch} style={{ background: line, opacity: 0.4 }} />
          10th to 90th percentile
        </li>
        <li>
          <span className={styles.stroke} style={{ borderColor: line }} />
          median host
        </li>
        {named.map(({ name }, at) => (
          <li key={name}>
            <svg width="22" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="22"
                y1="4"
                y2="4"
                stroke={outlier}
                strokeWidth="2"
                strokeDasharray={DASHES[at]}
              />
            </svg>
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
