import { groupColours, type MapScale, rampStops, scaleTicks } from "../../chart/stateColours";
import { formatNumber, formatValue } from "../../stream/format";
import { threadsOf } from "../../stream/mapLayout";
import type { MapPicture } from "../../stream/mapPicture";
import { GROUP_NAMES, GROUP_NATURES, type Nature, type StateGroup } from "../../stream/states";
import type { ShownUnit } from "../../stream/views";
import styles from "./MapPanel.module.css";

interface MapLegendProps {
  readonly picture: MapPicture | null;
  /** Scale of the colours, or null if colours are states. */
  readonly scale: MapScale | null;
  readonly dark: boolean;
}

const GROUPS = Object.entries(GROUP_NAMES) as readonly (readonly [StateGroup, string])[];

/** Natures with the same heading; a group that says it itself needs none. */
const HEADINGS: readonly (readonly [heading: string, natures: readonly Nature[]])[] = [
  ["", ["running", "runnable", "throttled"]],
  ["Blocked:", ["blocked"]],
  ["Idle:", ["idle"]],
  ["Unknown:", ["unknown"]],
];

/** The colour scale, and the meaning of blank cells. */
export function MapLegend({ picture, scale, dark }: MapLegendProps) {
  return (
    <div className={styles.legend}>
      {scale === null ? (
        <StateKeys dark={dark} />
      ) : (
        <Scale scale={scale} unit={picture?.view.unit ?? "cores"} dark={dark} />
      )}
      <ul className={styles.keys}>
        <li>
          <span className={`${styles.swatch} ${styles.hatched}`} aria-hidden="true" />
          {scale === null ? "no ledger of this thread" : "no value for this thread"}
        </li>
        {scale === null ? (
          <li>
            <span className={`${styles.swatch} ${styles.proc}`} aria-hidden="true" />
            not switched since attach: as /proc says
          </li>
        ) : null}
        <li>
          <span className={styles.swatch} aria-hidden="true" />
          not running, or not sampled
        </li>
        {hasMarks(picture) ? (
          <li>
            <span className={`${styles.swatch} ${styles.mark}`} aria-hidden="true" />
            born or exited
          </li>
        ) : null}
      </ul>
      <span className={styles.hint}>
        Click to select a thread, or use the arrow keys and Enter.
      </span>
    </div>
  );
}

/** Colours of states, by what they say of a thread. */
function StateKeys({ dark }: { readonly dark: boolean }) {
  const colours = groupColours(dark);
  return (
    <ul className={styles.keys} aria-label="Colours of states">
      {HEADINGS.map(([heading, natures]) => (
        <li key={heading}>
          {heading}
          {GROUPS.filter(([group]) => natures.includes(GROUP_NATURES[group])).map(
            ([group, name]) => (
              <span key={group} className={styles.key}>
                <span
                  className={styles.swatch}
                  style={{ background: colours[group] }}
                  aria-hidden="true"
                />
                {name}
              </span>
            ),
          )}
        </li>
      ))}
    </ul>
  );
}

interface ScaleProps {
  readonly scale: MapScale;
  readonly unit: ShownUnit;
  readonly dark: boolean;
}

function Scale({ scale, unit, dark }: ScaleProps) {
  const ticks = scaleTicks(scale);
  return (
    <div className={styles.scale} role="img" aria-label={scaleText(scale, unit)}>
      <span
        className={styles.bar}
        style={{ background: `linear-gradient(to right, ${rampStops(dark).join(", ")})` }}
      />
      <span className={styles.ticks} aria-hidden="true">
        {ticks.map(({ share, value }, place) => (
          <span key={share}>
            {scale.log && place === 0 ? "≤ " : ""}
            {place === 0 || place === ticks.length - 1
              ? formatValue(value, unit)
              : formatNumber(value, unit)}
          </span>
        ))}
      </span>
    </div>
  );
}

function scaleText(scale: MapScale, unit: ShownUnit): string {
  const [least, ...rest] = scaleTicks(scale).map(({ value }) => formatValue(value, unit));
  const kind = scale.log ? "logarithmic" : "linear";
  return `Colours, ${kind}, from ${least ?? "0"} to ${rest.at(-1) ?? "0"}`;
}

/** Whether any thread has its own row: only there birth and end are marked. */
function hasMarks(picture: MapPicture | null): boolean {
  const layout = picture?.layout ?? null;
  return layout === null || layout.together.some((_, row) => threadsOf(layout, row) === 1);
}
