/**
 * Tables that frames carry after their rows: facts with keys other than threads. The counterpart of
 * shared/tidscope_wire/frame_tables.py.
 */

import { type ArrowColumn, ArrowError, readStream, widen } from "./arrow";
import { COLUMNS } from "./generated/frameTables";
import { MAX_TABLE_ROWS } from "./generated/limits";
import type { FrameTable, TableName } from "./generated/models";

type ColumnTypes = typeof COLUMNS;
type Values = {
  readonly uint32: Uint32Array;
  /** Values above 2^53 lose their last bits. */
  readonly uint64: Float64Array;
  readonly utf8: readonly string[];
};

/** A decoded table: one array per column, one value per row. */
export type Table<N extends TableName> = {
  readonly rows: number;
  readonly columns: {
    readonly [C in keyof ColumnTypes[N]]: Values[ColumnTypes[N][C] & keyof Values];
  };
};

/** Tables of a frame by name; tables that the frame does not carry are missing. */
export type FrameTables = { readonly [N in TableName]?: Table<N> };

/**
 * Decode the tables of a frame.
 * @param described descriptions from the frame's header.
 * @param bytes exactly the tables; starts at a multiple of 8 of its buffer.
 * @throws ArrowError if a table does not match its description.
 */
export function decodeTables(described: readonly FrameTable[], bytes: Uint8Array): FrameTables {
  const found: Partial<Record<TableName, unknown>> = {};
  let at = 0;
  for (const { name, rows, bytes: length } of described) {
    if (name in found) throw new ArrowError(`two tables are ${name}`);
    if (length % 8 !== 0 || length > bytes.length - at) {
      throw new ArrowError(`table ${name} of ${length} bytes at ${at} of ${bytes.length}`);
    }
    found[name] = decodeTable(name, rows, bytes.subarray(at, at + length));
    at += length;
  }
  if (at !== bytes.length) throw new ArrowError(`${bytes.length - at} bytes behind the tables`);
  return found as FrameTables;
}

function decodeTable(name: TableName, rows: number, bytes: Uint8Array) {
  const wanted = Object.entries(COLUMNS[name]);
  const read = readStream(bytes);
  if (
    read.length !== wanted.length ||
    wanted.some(([column, type], i) => read[i]?.name !== column || read[i]?.type !== type)
  ) {
    throw new ArrowError(`table ${name} has the columns ${read.map((one) => one.name)}`);
  }
  if (rows > MAX_TABLE_ROWS) throw new ArrowError(`table ${name} has ${rows} rows`);
  const columns = read.map((column) => {
    if (column.valid) {
      throw new ArrowError(`column ${column.name} of table ${name} has rows without a value`);
    }
    const values = valuesOf(column);
    if (values.length !== rows) {
      throw new ArrowError(`the header says ${rows} rows of ${name}, ${values.length} are there`);
    }
    return [column.name, values] as const;
  });
  return { rows, columns: Object.fromEntries(columns) };
}

function valuesOf(column: ArrowColumn): Uint32Array | Float64Array | readonly string[] {
  switch (column.type) {
    case "uint32":
    case "utf8":
      return column.values;
    case "uint64":
      return widen(column.values, null);
    default:
      throw new ArrowError(`column ${column.name} is of a type that no table has`);
  }
}
