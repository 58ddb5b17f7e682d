/** Thread table columns: rates and totals of fields of the catalogue. */

import {
  fieldNamed,
  formatDuration,
  formatNumber,
  shownRate,
  shownTotal,
} from "../../stream/format";
import type { Inexact } from "../../stream/inexact";
import type { SortColumn } from "../../stream/viewRequest";
import type { ShownUnit } from "../../stream/views";
import { CATALOGUE } from "../../wire/generated/catalogue";
import type { CatalogueField, Provenance } from "../../wire/generated/models";

/** Value shown of a field: its current rate, or its total since the thread's start. */
export type Shown = "rate" | "total";

/** A column as text, "rate:cpu_run_ns": the form stored in the browser. */
export type ColumnId = `${Shown}:${string}`;

export interface Column {
  readonly id: ColumnId;
  readonly shown: Shown;
  readonly field: CatalogueField;
}

export const DEFAULT_COLUMNS: readonly ColumnId[] = [
  "rate:cpu_run_ns",
  "total:cpu_run_ns",
  "rate:cpu_delay_ns",
  "rate:voluntary_switches",
  "rate:involuntary_switches",
  "total:disk_read_bytes",
  "total:disk_write_bytes",
  "total:net_read_bytes",
  "total:net_write_bytes",
];

/** Fields available in the thread table. */
export const THREAD_FIELDS: readonly CatalogueField[] = CATALOGUE.fields.filter(
  ({ scope, kind }) => scope === "thread" && kind === "counter",
);

/** Columns by ID, in catalogue order, rate before total; unknown IDs are skipped. */
export function columnsOf(ids: readonly string[]): readonly Column[] {
  const wanted = new Set(ids);
  return THREAD_FIELDS.flatMap((field) =>
    (["rate", "total"] as const)
      .map((shown): Column => ({ id: `${shown}:${field.name}`, shown, field }))
      .filter(({ id }) => wanted.has(id)),
  );
}

const UNITS: Readonly<Record<ShownUnit, string>> = {
  W: "W",
  J: "J",
  cores: "cores",
  threads: "threads",
  s: "s",
  bytes: "",
  "bytes/s": "per s",
  "1/s": "per s",
  count: "",
  share: "of time",
  ms: "ms",
};

/** The line under a column's label. */
export function unitOf({ shown, field }: Column): string {
  const { unit } = shown === "rate" ? shownRate(field.name, 0) : shownTotal(field.name, 0);
  return [UNITS[unit], shown === "total" ? "total" : ""].filter(Boolean).join(" ");
}

/** A value as shown in a cell, without the unit, which is in the column header. */
export function cellText({ shown, field }: Column, raw: number): string {
  const { value, unit } =
    shown === "rate" ? shownRate(field.name, raw) : shownTotal(field.name, raw);
  return formatNumber(value, unit);
}

const PROVENANCE: Readonly<Record<Provenance, string>> = {
  exact: "Exact.",
  quantised: "Rounded down by the kernel to a multiple of 1024.",
  sampled: "Advances in scheduler ticks, not continuously.",
  estimated: "Estimated from other values.",
};

/** Meaning and precision of a field, given its `source`. */
export function explain(field: CatalogueField, source: "taskstats" | "procfs"): string {
  // /proc has the exact numbers that taskstats rounds.
  const exact = source === "procfs" && field.provenance === "quantised";
  const meaning = exact
    ? field.meaning.replace(" The kernel rounds down to a multiple of 1024.", "")
    : field.meaning;
  const says = meaning.includes("multiple of 1024") || meaning.includes("scheduler ticks");
  return says ? meaning : `${meaning} ${PROVENANCE[exact ? "exact" : field.provenance]}`;
}

/** Why a cell is empty; null if it is not. */
export function whyEmpty(
  column: Column,
  rate: number,
  total: number,
  absent: ReadonlyMap<string, string>,
): string | null {
  const value = column.shown === "rate" ? rate : total;
  if (!Number.isNaN(value)) {
    return null;
  }
  const reason = absent.get(column.field.name);
  if (reason !== undefined) {
    return reason;
  }
  return Number.isNaN(total)
    ? `Not available for this thread. ${column.field.meaning}`
    : "Not enough data yet, or the thread has exited.";
}

/** Why a value is inexact in an otherwise exact field. */
export function whyInexact({ label, kernel, life_s }: Inexact): string {
  if (label === "at_least") {
    return `At least this much: ${kernel} reads by splice() out of TCP sockets are not in it, for this kernel does not let them be counted.`;
  }
  if (label === "estimated") {
    return "An estimate: the time in scheduler ticks. The kernel wrote the record of the thread's end before its last tick, and without a ledger nothing counts the time after that.";
  }
  const value = Number.isNaN(kernel) ? "" : ` (${formatDuration(kernel / 1e9)})`;
  const life = Number.isNaN(life_s) ? "" : ` (${formatDuration(life_s)})`;
  const longer =
    kernel / 1e9 <= life_s
      ? "what the thread's ledger says that it can be"
      : `the thread's life${life}`;
  const what = `The kernel's value${value} is longer than ${longer}, so it is invalid.`;
  return label === "ledger"
    ? `${what} Shown is the time by the thread's ledger.`
    : `${what} The thread has no ledger that would say what it is.`;
}

/** Whether the table is sorted by this column. */
export function isSortedBy(sort: SortColumn, column: Column): boolean {
  return "field" in sort && sort.by === column.shown && sort.field === column.field.name;
}

const KEY = "tidscope.columns";

/** Columns saved in this browser. */
export function savedColumns(): readonly string[] {
  const kept = window.localStorage.getItem(KEY)?.split(" ") ?? [];
  const known = kept.filter((id) => fieldNamed(id.split(":")[1] ?? "") !== undefined);
  return known.length === 0 ? DEFAULT_COLUMNS : known;
}

export function saveColumns(ids: readonly string[]): void {
  window.localStorage.setItem(KEY, ids.join(" "));
}
