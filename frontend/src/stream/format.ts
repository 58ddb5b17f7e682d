/** Values as text. The only place that converts wire units to shown ones. */

import { CATALOGUE } from "../wire/generated/catalogue";
import type { CatalogueField } from "../wire/generated/models";
import type { ShownUnit } from "./views";

const BY_NAME = new Map(CATALOGUE.fields.map((field) => [field.name, field]));

/** A value and its unit. */
export interface Shown {
  readonly value: number;
  readonly unit: ShownUnit;
}

/** A field of the catalogue; undefined if unknown to this page. */
export function fieldNamed(name: string): CatalogueField | undefined {
  return BY_NAME.get(name);
}

/** Readable label of a field; its name if the catalogue lacks it. */
export function fieldLabel(name: string): string {
  return BY_NAME.get(name)?.label ?? name;
}

/** Convert a raw rate per second to a shown value: cores for CPU time, share of time for waits. */
export function shownRate(field: string, rate: number): Shown {
  const known = BY_NAME.get(field);
  switch (known?.unit) {
    case "ns":
      return { value: rate / 1e9, unit: known.group === "cpu" ? "cores" : "share" };
    case "us":
      return { value: rate / 1e6, unit: known.group === "cpu" ? "cores" : "share" };
    case "bytes":
      return { value: rate, unit: "bytes/s" };
    default:
      return { value: rate, unit: "1/s" };
  }
}

/** Convert a raw total to a shown value: seconds for times. */
export function shownTotal(field: string, total: number): Shown {
  switch (BY_NAME.get(field)?.unit) {
    case "ns":
      return { value: total / 1e9, unit: "s" };
    case "us":
      return { value: total / 1e6, unit: "s" };
    case "bytes":
      return { value: total, unit: "bytes" };
    default:
      return { value: total, unit: "count" };
  }
}

/** Smallest value shown; smaller ones are "<0.001". */
const MIN_SHOWN = 0.001;

/** Placeholder for a missing value. */
export const NO_VALUE = "–";

/**
 * A value with its unit: three significant digits and a matching prefix, so that a small CPU share
 * reads "0.00320 cores", not "0.00 cores". Tiny values are "<0.001", tiny shares "<0.01 %"; only zero is
 * "0". "–" for NaN.
 */
export function formatValue(value: number, unit: ShownUnit): string {
  const { number, name } = partsOf(value, unit);
  return name === "" ? number : `${number} ${name}`;
}

/**
 * `formatValue` for columns with the unit in the heading: 1.25 for 1.25 cores, 3.20 ms, 1.50 KiB,
 * 12.3 %.
 */
export function formatNumber(value: number, unit: ShownUnit): string {
  const { number, prefix, name } = partsOf(value, unit);
  const kept = keptName(prefix, name, unit);
  return kept === "" ? number : `${number} ${kept}`;
}

/** Labels of an axis: one common prefix, and the digits that the step needs. */
export function axisFormatter(
  unit: ShownUnit,
  top: number,
  step: number,
): (value: number) => string {
  const scale = SCALES[unit];
  const { base, prefixes, suffix, factor } = scale;
  const power = powerOf(Math.abs(top) * factor, scale, prefixes.length - 1);
  const perLabel = factor / base ** power;
  const places = placesOf(step * perLabel);
  const name = axisName(prefixes[power + scale.plain] ?? "", suffix);
  return (value) => {
    if (value === 0) return "0";
    const number = (value * perLabel).toFixed(places);
    return name === "" ? number : `${number} ${name}`;
  };
}

/**
 * Shorten a text to a length by cutting its middle: names of threads often differ at their ends
 * ("http-nio-8080-exec-12").
 */
export function shortenMiddle(text: string, most: number): string {
  const letters = [...text];
  if (letters.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  const head = letters.slice(0, most - 1 - tail).join("");
  return `${head}…${tail > 0 ? letters.slice(-tail).join("") : ""}`;
}

/**
 * A share in whole percent, for lists of shares: "<1 %" and ">99 %" instead of a rounded 0 or 100.
 */
export function formatPercent(share: number): string {
  if (!Number.isFinite(share)) return NO_VALUE;
  const percent = Math.round(100 * share);
  if (percent === 0 && share !== 0) return share > 0 ? "<1 %" : ">-1 %";
  if (percent === 100 && share < 1) return ">99 %";
  return `${percent} %`;
}

/** A percentage to one decimal: "0.9 %", "12.3 %", "151 %". */
export function formatTenths(percent: number): string {
  if (!Number.isFinite(percent)) return NO_VALUE;
  const tenths = Math.round(10 * percent) / 10;
  if (tenths === 0) return "0 %";
  return `${Math.abs(tenths) >= 100 ? grouped(tenths) : tenths.toFixed(1)} %`;
}

/**
 * A signed difference in percent with one decimal: "+12.3 %", "−0.4 %". A difference that would
 * round to 0 keeps its first digit, "+0.03 %".
 */
export function formatDifference(percent: number): string {
  if (!Number.isFinite(percent)) return NO_VALUE;
  const size = Math.abs(percent);
  if (size === 0) return "0 %";
  const sign = percent < 0 ? "−" : "+";
  if (size >= 999.5) return `${sign}${grouped(size)} %`;
  if (size >= 0.095) return `${sign}${size.toFixed(1)} %`;
  if (size >= MIN_SHOWN) return `${sign}${Number(size.toPrecision(1))} %`;
  return `${sign}<${MIN_SHOWN} %`;
}

/**
 * A difference with its interval, in percent: "+10.0 % [+5.0, +15.0]"; the interval is optional.
 */
export function formatGain(percent: number, low: number | null, high: number | null): string {
  if (low === null || high === null) return formatDifference(percent);
  const ends = [low, high].map((end) => formatDifference(end).replace(" %", ""));
  return `${formatDifference(percent)} [${ends.join(", ")}]`;
}

/** A duration: "850 ms", "3.2 s", "3 min 05 s", "2 h 04 min"; below a millisecond "320 µs". */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return NO_VALUE;
  if (seconds !== 0 && Math.abs(seconds) < 0.9995) return shortDuration(seconds);
  if (seconds === 0) return "0 ms";
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  const hours = Math.floor(whole / 3600);
  if (hours < 48) return `${hours} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

/** A duration below a second, without trailing zeros: "50 ms", "3.21 ms", "320 µs". */
function shortDuration(seconds: number): string {
  const small = Math.abs(seconds) < 0.000_995;
  const size = Math.abs(seconds) * (small ? 1e6 : 1000);
  const sign = seconds < 0 ? "-" : "";
  const unit = small ? "µs" : "ms";
  if (size < MIN_SHOWN) return `${seconds < 0 ? ">-" : "<"}${MIN_SHOWN} ${unit}`;
  return `${sign}${Number(size.toPrecision(3))} ${unit}`;
}

/** Scaling of a unit: its prefixes from the smallest on, and the index of the empty one. */
interface Scale {
  readonly base: number;
  readonly prefixes: readonly string[];
  readonly plain: number;
  readonly suffix: string;
  /** Factor from the value to the number shown: 100 for a share in percent. */
  readonly factor: number;
  /** The unit counts things: whole numbers without a prefix stay whole. */
  readonly whole: boolean;
  /** Smallest number shown; smaller ones are "<" this. */
  readonly least: number;
}

const IEC = ["", "Ki", "Mi", "Gi", "Ti", "Pi"] as const;
const SI = ["", "k", "M", "G", "T"] as const;

function scaleOf(suffix: string, prefixes: readonly string[], rest: Partial<Scale> = {}): Scale {
  const plain = prefixes.indexOf("");
  return {
    base: 1000,
    prefixes,
    plain,
    suffix,
    factor: 1,
    whole: false,
    least: MIN_SHOWN,
    ...rest,
  };
}

const SCALES: Readonly<Record<ShownUnit, Scale>> = {
  W: scaleOf("W", ["m", ...SI]),
  J: scaleOf("J", ["m", ...SI]),
  cores: scaleOf("cores", [""]),
  threads: scaleOf("threads", [""]),
  s: scaleOf("s", ["n", "µ", "m", ""]),
  ms: scaleOf("ms", [""]),
  share: scaleOf("%", [""], { factor: 100, least: 0.01 }),
  bytes: scaleOf("B", IEC, { base: 1024, whole: true }),
  "bytes/s": scaleOf("B/s", IEC, { base: 1024, whole: true }),
  "1/s": scaleOf("/s", SI),
  count: scaleOf("", SI, { whole: true }),
};

/** Values below this take the next smaller prefix, if any. */
const SMALL = 0.0995;

/** Power of the base that a number's prefix stands for; 0 for no prefix. */
function powerOf(number: number, { base, plain }: Scale, last: number): number {
  let power = 0;
  // 1023.96 would be shown as 1024: it takes the next prefix.
  while (number >= (base - 0.05) * base ** power && power + plain < last) power++;
  while (number > 0 && number < SMALL * base ** power && power + plain > 0) power--;
  return power;
}

function partsOf(value: number, unit: ShownUnit): { number: string; prefix: string; name: string } {
  if (!Number.isFinite(value)) return { number: NO_VALUE, prefix: "", name: "" };
  const scale = SCALES[unit];
  const number = value * scale.factor;
  // Counts are written in full.
  const last = unit === "count" ? 0 : scale.prefixes.length - 1;
  const power = powerOf(Math.abs(number), scale, last);
  const shown = number / scale.base ** power;
  const prefix = scale.prefixes[power + scale.plain] ?? "";
  const whole = scale.whole && power === 0 && Number.isInteger(shown);
  return {
    number: whole || Math.abs(shown) >= 999.5 ? grouped(shown) : digits(shown, scale.least),
    prefix,
    name: `${prefix}${scale.suffix}`,
  };
}

/** Part of a unit's name shown although the heading has the unit. */
function keptName(prefix: string, name: string, unit: ShownUnit): string {
  switch (unit) {
    case "bytes":
    case "bytes/s":
      return name.replace("/s", "");
    case "share":
      return name;
    case "s":
    case "W":
    case "J":
      // 4.00 m would be minutes.
      return prefix === "" ? "" : name;
    default:
      return prefix;
  }
}

/** Three significant digits, at most five places, never in scientific notation. */
function digits(value: number, least: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  if (size >= 0.099_95) return value.toFixed(3);
  if (size >= 0.009_995) return value.toFixed(4);
  if (size >= least) return value.toFixed(5);
  return value > 0 ? `<${least}` : `>-${least}`;
}

/** Maximum decimals of a tick. */
const MAX_PLACES = 15;

/** Decimals that a step needs, so that no two ticks have the same label. */
function placesOf(step: number): number {
  for (let places = 0; places < MAX_PLACES; places++) {
    const scaled = step * 10 ** places;
    if (scaled > 0.5 && Math.abs(scaled - Math.round(scaled)) < 1e-6 * scaled) return places;
  }
  return Math.max(0, Math.min(MAX_PLACES, 1 - Math.floor(Math.log10(step))));
}

/** The unit beside each label of an axis; cores and threads appear only in the chart's heading. */
function axisName(prefix: string, suffix: string): string {
  return suffix === "cores" || suffix === "threads" ? prefix : `${prefix}${suffix}`;
}

/** Whole number with grouped thousands. */
export function grouped(value: number): string {
  const text = String(Math.round(value));
  // Intl is slow, and tables have thousands of numbers per second.
  return text.length < 4 ? text : text.replace(/\d(?=(\d{3})+$)/g, "$&\u202f");
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** A count with its noun, such as "1 frame" or "12 000 frames". */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Several processes by their programs: "3 processes of gunicorn". */
export function processesOf(programs: readonly string[]): string {
  const names = [...new Set(programs)].join(", ");
  return `${counted(programs.length, "process", "processes")} of ${names}`;
}

/** Common fatal signals, by number (signal(7), x86 and ARM). */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  6: "SIGABRT",
  7: "SIGBUS",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
};

/** Text of a wait(2) status: a signal in the low seven bits, an exit code above. */
export function exitStatusText(status: number | null): string {
  if (status === null) {
    return "exit status unknown";
  }
  const signal = status & 0x7f;
  if (signal !== 0) {
    return `killed by ${SIGNALS[signal] ?? `signal ${signal}`}`;
  }
  return `exit code ${(status >> 8) & 0xff}`;
}
