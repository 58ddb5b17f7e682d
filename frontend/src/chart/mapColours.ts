/**
 * Colours of the thread map. Lightness rises from idle to busy in the dark theme and falls in the
 * light one. The hue goes through blue, green and yellow, as in viridis. The order is therefore
 * legible with any colour vision and in grey. The idle colour differs from the background, which
 * shows where a thread does not exist.
 */

import { hexRgb } from "./rgb";

/** Distribution of values over the colours. */
export interface MapScale {
  /** Value of the last colour; larger values share it. */
  readonly top: number;
  /** Logarithmic: each decade takes a third of the colours; linear otherwise. */
  readonly log: boolean;
}

/** Decades of the logarithmic scale. */
export const DECADES = 3;

const DARK = ["#38456f", "#2f6f97", "#22938b", "#4fb96b", "#a8d93f", "#fde725"] as const;
const LIGHT = ["#dbe3ea", "#a3cdb4", "#52ad9a", "#2f7f93", "#3c4f8a", "#3b0f57"] as const;

const STEPS = 256;

/** Stops for a style sheet's gradient. */
export function rampStops(dark: boolean): readonly string[] {
  return dark ? DARK : LIGHT;
}

/** Uint8[256 * 3]: red, green and blue of each step, from idle to busy. */
export function ramp(dark: boolean): Uint8Array {
  const stops = rampStops(dark).map((colour) => hexRgb(colour) ?? [0, 0, 0]);
  const out = new Uint8Array(3 * STEPS);
  for (let i = 0; i < STEPS; i++) {
    const at = (i / (STEPS - 1)) * (stops.length - 1);
    const below = Math.min(stops.length - 2, Math.floor(at));
    for (let part = 0; part < 3; part++) {
      const from = stops[below]?.[part] ?? 0;
      const to = stops[below + 1]?.[part] ?? 0;
      out[3 * i + part] = Math.round(from + (to - from) * (at - below));
    }
  }
  return out;
}

/** Step of a value, 0 to 255; the value is a number from 0 on. */
export function stepOf(value: number, { top, log }: MapScale): number {
  if (!(value > 0) || !(top > 0)) return 0;
  const share = log ? 1 + Math.log10(value / top) / DECADES : value / top;
  return Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))));
}

/** Values at positions of the scale from 0 (idle) to 1, for its labels. */
export function scaleTicks({ top, log }: MapScale): readonly { share: number; value: number }[] {
  return log
    ? Array.from({ length: DECADES + 1 }, (_, i) => ({
        share: i / DECADES,
        value: top / 10 ** (DECADES - i),
      }))
    : [0, 0.5, 1].map((share) => ({ share, value: share * top }));
}
