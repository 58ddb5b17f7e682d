/** A model filled from frame tables, and inputs of views, for tests. */

import { filterFrom } from "../stream/rank";
import { TargetModel } from "../stream/targetModel";
import { DEFAULT_REQUEST, type ViewRequest } from "../stream/viewRequest";
import { spanOf } from "../stream/window";
import type { FrameTables } from "../wire/frame";
import { COLUMNS } from "../wire/generated/frameTables";
import type { ProcessGauges } from "../wire/generated/models";
import { frame, type Row, TARGET } from "./frames";

/** The target of these tests: process 100 with a ledger. */
export const LEDGER_TARGET = {
  ...TARGET,
  process: { ...TARGET.process, pid: 100 },
  source: { ...TARGET.source, ledger: true, ledger_reason: null, calls: true },
};

/** One instant: threads by name, tids from 1, and the changed rows of tables. */
export interface FactInstant {
  readonly t_s: number;
  readonly facts?: FactRows;
  readonly counters?: readonly Row["counters"][];
  readonly process?: Partial<ProcessGauges>;
}

/** Process of each thread if the target is a group; null otherwise. */
type Pids = readonly number[] | null;

/** A model of threads with these names, which all existed before attach. */
export function factModel(
  names: readonly string[],
  instants: readonly FactInstant[],
  pids: Pids = null,
): TargetModel {
  const model = new TargetModel();
  for (const [i, { t_s, facts = {}, counters = [], process = {} }] of instants.entries()) {
    const rows = names.map((name, k): Row => {
      const row = { tid: k + 1, counters: counters[k] ?? { cpu_run_ns: 0, cpu_delay_ns: 0 } };
      const pid = pids?.[k];
      if (i > 0) return row;
      return { ...row, start_s: -10, name, ...(pid === undefined ? {} : { pid }) };
    });
    const changes = { seq: i + 1, t_s, tables: factTables(facts), process };
    model.ingest(frame(changes, i === 0 || counters.length > 0 ? rows : []));
  }
  return model;
}

/** Input of views over the last seconds. */
export function factInput(model: TargetModel, request: Partial<ViewRequest> = {}, seconds = 60) {
  const all = { ...DEFAULT_REQUEST, window: { kind: "last", seconds } as const, ...request };
  return {
    model,
    target: LEDGER_TARGET,
    request: all,
    filter: filterFrom(all.filter),
    span: spanOf(all.window, model.now_s),
    now_s: model.now_s,
  };
}

type Columns = typeof COLUMNS;
type TableName = keyof Columns;
type Value<T> = T extends "utf8" ? string : number;
/** A row; omitted fields are 0 or "". */
export type FactRow<N extends TableName> = {
  readonly [C in keyof Columns[N]]?: Value<Columns[N][C]>;
};

export type FactRows = { readonly [N in TableName]?: readonly FactRow<N>[] };

export function factTables(rows: FactRows): FrameTables {
  const tables = Object.entries(rows).map(([name, some]) => {
    const columns = Object.entries<string>(COLUMNS[name as TableName]).map(([column, type]) => {
      const values = some.map((row) => (row as Record<string, number | string>)[column]);
      if (type === "utf8") return [column, values.map((value) => value ?? "")];
      const numbers = values.map((value) => Math.round(Number(value ?? 0)));
      return [column, type === "uint32" ? Uint32Array.from(numbers) : Float64Array.from(numbers)];
    });
    return [name, { rows: some.length, columns: Object.fromEntries(columns) }];
  });
  return Object.fromEntries(tables);
}
