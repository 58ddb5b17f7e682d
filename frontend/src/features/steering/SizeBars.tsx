import { localTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { formatDuration, formatNumber, formatValue } from "../../stream/format";
import { type SteerView, signalUnit, sizeTitle } from "../../stream/steerView";
import type { ShownUnit } from "../../stream/views";
import type { Steering } from "../../wire/generated/models";
import {
  type Bar,
  BOTTOM,
  behindBestText,
  HEIGHT,
  LEFT,
  RIGHT,
  scaleOf,
  sizeBars,
  WIDTH,
} from "./trialScale";
import trialsStyles from "./trials.module.css";

interface SizeBarsProps {
  readonly steer: SteerView;
  readonly steering: Steering | null;
}

/** Ends of a mean's interval; "" without one. */
function withinText({ low, high }: Bar, unit: ShownUnit): string {
  return low === null || high === null
    ? ""
    : `${formatNumber(low, unit)} – ${formatNumber(high, unit)}`;
}

/** Operations per second of each size tried, with its uncertainty. */
export function SizeBars({ steer, steering }: SizeBarsProps) {
  const attached = useStore(useLiveClient().target)?.target?.attached_unix_us ?? null;
  const band = steer.bands.at(-1);
  const unit = signalUnit(band?.signal ?? null);
  const bars = sizeBars(steer.tried, steering?.size ?? null);
  const since =
    attached === null || !Number.isFinite(steer.tried_since_s)
      ? ""
      : ` since ${localTime(attached / 1000 + 1000 * steer.tried_since_s)}`;
  return (
    <section className={trialsStyles.bars} aria-label="Ops by size">
      <h3>
        Ops by size<small>{since}</small>
      </h3>
      {bars.length === 0 ? (
        <p className={trialsStyles.none}>No measured interval yet.</p>
      ) : (
        <>
          <SizePicture bars={bars} unit={unit} />
          <table className={trialsStyles.table}>
            <thead className="visually-hidden">
              <tr>
                <th scope="col">{sizeTitle(band?.knob ?? null)}</th>
                <th scope="col">Mean</th>
                <th scope="col">95 % confidence interval</th>
                <th scope="col">Compared with the best</th>
                <th scope="col">Intervals</th>
              </tr>
            </thead>
            <tbody>
              {bars.map((bar) => (
                <tr key={bar.size} data-bar={bar.size} data-current={bar.current}>
                  <th scope="row" className={trialsStyles.size}>
                    {bar.size}
                    {bar.current ? <span className={trialsStyles.now}>current</span> : null}
                  </th>
                  <td className={trialsStyles.value}>
                    <span className={trialsStyles.track} aria-hidden="true">
                      <span className={trialsStyles.bar} style={{ width: `${100 * bar.share}%` }} />
                    </span>
                    <span className={trialsStyles.label}>
                      {formatValue(bar.rate, unit)}
                      {bar.wait_s === null ? "" : `, queue wait ${formatDuration(bar.wait_s)}`}
                    </span>
                  </td>
                  <td className={trialsStyles.within}>{withinText(bar, unit)}</td>
                  <td className={trialsStyles.behind}>{behindBestText(bar)}</td>
                  <td className={trialsStyles.count}>×{bar.intervals}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </section>
  );
}

interface SizePictureProps {
  readonly bars: readonly Bar[];
  readonly unit: ShownUnit;
}

/** Result of each size, with its 95 % confidence interval; the table below has the same data. */
function SizePicture({ bars, unit }: SizePictureProps) {
  const sizes = bars.map(({ size }) => size);
  const smallest = Math.min(...sizes);
  const largest = Math.max(...sizes);
  const margin = (largest - smallest) / 20 || 0.5;
  // An interval of two values may be many times as wide as their mean.
  const most = Math.max(...bars.map(({ rate }) => rate));
  const top = Math.min(1.5 * most, Math.max(...bars.map(({ rate, high }) => high ?? rate))) || 1;
  const { x, y, ticks } = scaleOf([smallest - margin, largest + margin], [0, 1.05 * top]);
  return (
    <svg
      className={trialsStyles.svg}
      viewBox={`0 0 ${WIDTH} ${HEIGHT - 8}`}
      aria-hidden="true"
      data-sizes={bars.length}
    >
      {ticks.map((value) => (
        <g key={value}>
          <line
            className={trialsStyles.grid}
            x1={LEFT}
            x2={WIDTH - RIGHT}
            y1={y(value)}
            y2={y(value)}
          />
          <text className={trialsStyles.tick} x={LEFT - 5} y={y(value) + 3} textAnchor="end">
            {formatValue(value, unit)}
          </text>
        </g>
      ))}
      <polyline
        className={trialsStyles.curve}
        points={bars.map(({ size, rate }) => `${x(size)},${y(rate)}`).join(" ")}
      />
      {bars.map(({ size, rate, low, high, current }) => (
        <g key={size}>
          {low === null || high === null ? null : (
            <line
              className={trialsStyles.interval}
              x1={x(size)}
              x2={x(size)}
              y1={y(low)}
              y2={y(high)}
            />
          )}
          <circle className={trialsStyles.point} cx={x(size)} cy={y(rate)} r={current ? 5 : 3.5} />
          <text
            className={trialsStyles.tick}
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
