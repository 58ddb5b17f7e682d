import { type ChartTheme, hueStyle } from "../../chart/palette";
import { mixed } from "../../chart/raster";
import styles from "./TracesPage.module.css";

/** Mixing ratio of a background with its hue: text keeps a contrast of 4.5:1. */
const TINT = { light: 0.34, dark: 0.4 } as const;

/** Background of a service; the service's name is shown too. */
export function serviceGround(index: number, theme: ChartTheme): string {
  const tint = theme.dark ? TINT.dark : TINT.light;
  return mixed(theme.background, hueStyle(index, theme).colour, tint);
}

const GREW = { light: "#d62728", dark: "#ff6b61" } as const;
const SHRANK = { light: "#1f6fc4", dark: "#4aa8ff" } as const;
/** Mixing ratio of the greatest change. */
const MAX_MIX = 0.55;
/** Mixing ratio without a change, distinct from the background. */
const NO_CHANGE = 0.08;

/** Background of a change: red for growth, blue for shrinking; a sign is shown too. */
export function changeGround(change: number, most: number, theme: ChartTheme): string {
  const name = theme.dark ? "dark" : "light";
  const share = most > 0 ? Math.min(1, Math.abs(change) / most) : 0;
  const still = mixed(theme.background, theme.text, NO_CHANGE);
  if (share === 0) return still;
  // Small changes are visible as well.
  return mixed(still, (change > 0 ? GREW : SHRANK)[name], MAX_MIX * Math.sqrt(share));
}

/** A background colour and its meaning. */
export interface ColourKey {
  readonly ground: string;
  readonly text: string;
}

interface ColourKeysProps {
  readonly label: string;
  readonly keys: readonly ColourKey[];
}

/** The legend of background colours. */
export function ColourKeys({ label, keys }: ColourKeysProps) {
  return (
    <ul className={styles.keys} aria-label={label}>
      {keys.map(({ ground, text }) => (
        <li key={text}>
          <span className={styles.key} style={{ background: ground }} />
          {text}
        </li>
      ))}
    </ul>
  );
}
