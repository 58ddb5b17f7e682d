/** Frame tables for tests, from rows as objects. */

import type { FrameTables } from "../wire/frameTables";
import { COLUMNS } from "../wire/generated/frameTables";
import type { FrameTable } from "../wire/generated/models";

type Columns = typeof COLUMNS;
type TableName = keyof Columns;
type Value<T> = T extends "utf8" ? string : number;
/** A row: what is not named is 0 or "". */
export type FactRow<N extends TableName> = {
  readonly [C in keyof Columns[N]]?: Value<Columns[N][C]>;
};

export type FactRows = { readonly [N in TableName]?: readonly FactRow<N>[] };

/** Tables of a frame. */
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

/** What a header says of tables that were not encoded. */
export function describedTables(tables: FrameTables): FrameTable[] {
  return Object.entries(tables).map(([name, { rows }]) => ({
    name: name as TableName,
    rows,
    bytes: 8,
    omitted: 0,
  }));
}
