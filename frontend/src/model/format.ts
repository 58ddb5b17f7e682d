/** Values as text. Units of the wire are turned into shown ones here, and nowhere else. */

import { CATALOGUE } from "../wire/generated/catalogue";
import type { CatalogueField } from "../wire/generated/models";
import type { ShownUnit } from "./views";

const BY_NAME = new Map(CATALOGUE.fields.map((field) => [field.name, field]));

/** A value and the unit it is in. */
export interface Shown {
  readonly value: number;
  readonly unit: ShownUnit;
}

/** A field of the catalogue; undefined if this page does not know it. */
export function fieldNamed(name: string): CatalogueField | undefined {
  return BY_NAME.get(name);
}

/** Label of a field for people; its name if the catalogue does not have it. */
export function fieldLabel(name: string): string {
  return BY_NAME.get(name)?.label ?? name;
}

/** Raw units per second → what is shown: cores for CPU time, share of time for waits. */
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

/** Raw total → what is shown: seconds for times. */
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

/** A field's rate as text. */
export function formatRate(field: string, rate: number): string {
  const { value, unit } = shownRate(field, rate);
  return formatValue(value, unit);
}

/** A field's total as text. */
export function formatTotal(field: string, total: number): string {
  const { value, unit } = shownTotal(field, total);
  return formatValue(value, unit);
}

/** What stands for a value that is not there. */
export const NO_VALUE = "–";

/** A value with its unit, three significant digits or so; "–" for NaN. */
export function formatValue(value: number, unit: ShownUnit): string {
  if (!Number.isFinite(value)) return NO_VALUE;
  switch (unit) {
    case "cores":
      return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} cores`;
    case "s":
      return value >= 1000 ? `${grouped(value)} s` : `${digits(value)} s`;
    case "ms":
      return `${digits(value)} ms`;
    case "share":
      return `${digits(100 * value)} %`;
    case "W":
      return withUnit(value, "W");
    case "J":
      return withUnit(value, "J");
    case "bytes":
      return withPrefix(value, 1024, IEC, "B");
    case "bytes/s":
      return withPrefix(value, 1024, IEC, "B/s");
    case "1/s":
      return value >= 1000 ? withPrefix(value, 1000, SI, "/s") : `${digits(value)} /s`;
    case "count":
      return grouped(value);
  }
}

/**
 * Labels of an axis: one prefix and one number of digits for all ticks, chosen by the axis' maximum.
 */
export function tickFormatter(unit: ShownUnit, max: number): (value: number) => string {
  const [base, prefixes, suffix] = AXIS[unit];
  let power = 0;
  while (max >= base ** (power + 1) && power + 1 < prefixes.length) power++;
  const scale = (unit === "share" ? 0.01 : 1) * base ** power;
  const top = max / scale;
  const places = top >= 20 ? 0 : top >= 2 ? 1 : 2;
  const name = [prefixes[power] ?? "", suffix].join("");
  return (value) => {
    const number = (value / scale).toFixed(places).replace(/\.0+$/, "");
    return name === "" ? number : `${number} ${name}`;
  };
}

/** A length of time: "850 ms", "3.2 s", "3 min 05 s", "2 h 04 min". */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return NO_VALUE;
  if (seconds < 0.9995) return `${Math.round(1000 * seconds)} ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  const hours = Math.floor(whole / 3600);
  if (hours < 48) return `${hours} h ${two(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(hours / 24)} d ${two(hours % 24)} h`;
}

const IEC = ["", "Ki", "Mi", "Gi", "Ti", "Pi"] as const;
const SI = ["", "k", "M", "G", "T"] as const;
const PLAIN = [""] as const;
const AXIS: Readonly<Record<ShownUnit, readonly [number, readonly string[], string]>> = {
  W: [1000, SI, "W"],
  J: [1000, SI, "J"],
  cores: [1000, PLAIN, ""],
  s: [1000, PLAIN, "s"],
  ms: [1000, PLAIN, "ms"],
  share: [1000, PLAIN, "%"],
  bytes: [1024, IEC, "B"],
  "bytes/s": [1024, IEC, "B/s"],
  "1/s": [1000, SI, "/s"],
  count: [1000, SI, ""],
};

function withPrefix(
  value: number,
  base: number,
  prefixes: readonly string[],
  unit: string,
): string {
  let power = 0;
  let rest = value;
  // 1023.96 would be shown as 1024: it is one of the next prefix.
  while (Math.abs(rest) >= base - 0.05 && power + 1 < prefixes.length) {
    rest /= base;
    power++;
  }
  const number = power === 0 ? String(Math.round(rest)) : digits(rest);
  return `${number} ${prefixes[power] ?? ""}${unit}`;
}

/** With digits behind the point, unlike counts: 3.41 W, 12.0 kJ. */
function withUnit(value: number, unit: string): string {
  return Math.abs(value) < 999.95 ? `${digits(value)} ${unit}` : withPrefix(value, 1000, SI, unit);
}

/** Three significant digits, never in scientific notation. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(2);
}

function grouped(value: number): string {
  return Math.round(value).toLocaleString("en-US").replaceAll(",", "\u202f");
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** A count with its noun, such as "1 frame" or "12 000 frames"; regular plurals only. */
export function counted(count: number, noun: string): string {
  const digits = count.toLocaleString("en-US").replaceAll(",", "\u202f");
  return `${digits} ${noun}${count === 1 ? "" : "s"}`;
}
