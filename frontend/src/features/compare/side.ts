/**
 * A side of a comparison: a run or a window of a run, in the notation of links and backend. Pure.
 */

/** A time span of a run, in seconds from its start. */
export interface SideWindow {
  readonly from_s: number;
  readonly to_s: number;
}

const SECONDS = "[0-9]{1,7}(?:\\.[0-9]{1,3})?";
const SIDE = new RegExp(`^(r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6})(?:@(${SECONDS})-(${SECONDS}))?$`);
/** "12-42.5", with optional blanks, any kind of dash, and an optional unit. */
const TYPED = new RegExp(`^\\s*(${SECONDS})\\s*[-–]\\s*(${SECONDS})\\s*s?\\s*$`);

/** Parse a side into the backend's notation; null if invalid. */
export function parseSide(text: string): string | null {
  const found = SIDE.exec(text);
  if (found === null) return null;
  const [, run = "", from, to] = found;
  return from === undefined ? run : sideOf(run, { from_s: Number(from), to_s: Number(to) });
}

/** Name of a run or window; null if the window ends before its beginning. */
export function sideOf(run: string, window: SideWindow | null): string | null {
  if (window === null) return run;
  const [from, to] = [shortSeconds(window.from_s), shortSeconds(window.to_s)];
  return Number(to) > Number(from) ? `${run}@${from}-${to}` : null;
}

export function runOf(side: string): string {
  return side.split("@")[0] ?? side;
}

/** The window of a side; null for a whole run. */
export function windowOf(side: string): SideWindow | null {
  const [, , from, to] = SIDE.exec(side) ?? [];
  return from === undefined ? null : { from_s: Number(from), to_s: Number(to) };
}

/** A window in words, as in names of sides; "" for a whole run. */
export function windowText(window: SideWindow | null): string {
  return window === null ? "" : `${shortSeconds(window.from_s)}–${shortSeconds(window.to_s)} s`;
}

/** Parse a typed window; null for a whole run, undefined if invalid. */
export function typedWindow(text: string): SideWindow | null | undefined {
  if (text.trim() === "") return null;
  const [, from, to] = TYPED.exec(text) ?? [];
  const window = { from_s: Number(from), to_s: Number(to) };
  return window.to_s > window.from_s ? window : undefined;
}

/** Seconds with minimal digits, at most three decimals. */
function shortSeconds(seconds: number): string {
  return String(Number(Math.max(0, seconds).toFixed(3)));
}

/**
 * Shorten names by their common leading words. Group names of an experiment begin with its own: "kv
 * d46904: policy=linear size=1" becomes "size=1" beside "… size=4".
 */
export function shortLabels(labels: readonly string[]): readonly string[] {
  const words = labels.map((label) => label.split(" "));
  const [first = []] = words;
  const same = first.findIndex((word, place) => words.some((one) => one[place] !== word));
  const short = words.map((one) => one.slice(Math.max(0, same)).join(" "));
  // If a name consists only of the common words, all names stay whole.
  return labels.length > 1 && short.every((label) => label !== "") ? short : labels;
}
