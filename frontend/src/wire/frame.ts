/**
 * The binary frame: one instant of one target. The counterpart of shared/tidscope_wire/frame.py,
 * which describes the layout. Folder `wire`: bytes and JSON of the backend in, checked values out.
 * It imports no other folder.
 *
 * Tables that frames carry after their rows: facts with keys other than threads. The counterpart of
 * shared/tidscope_wire/frame_tables.py.
 */

import {
  type ArrowColumn,
  ArrowError,
  type ArrowField,
  readMessage,
  readStream,
  widen,
} from "./arrow";
import { checkFrameHeader } from "./check";
import { COLUMNS } from "./generated/frameTables";
import { MAX_HEADER_BYTES, MAX_TABLE_ROWS } from "./generated/limits";
import type { FrameHeader, FrameTable, TableName } from "./generated/models";

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
function decodeTables(described: readonly FrameTable[], bytes: Uint8Array): FrameTables {
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

/** A binary message is not a valid frame; the text says why. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/**
 * A decoded frame. `columns[i]` holds the values of `fields[i]`, one per row; NaN if unavailable.
 * Columns that are 0 in all rows may share one array, which must not be written to. Values above
 * 2^53 (104 days of nanoseconds) lose their last bits.
 */
export interface Frame {
  readonly header: FrameHeader;
  readonly tid: Uint32Array;
  readonly fields: readonly string[];
  readonly columns: readonly Float64Array[];
  /**
   * Nanoseconds since attach, because seconds are too coarse to identify a thread. Key frames only.
   */
  readonly start_ns: Float64Array | null;
  /** The process of each thread; key frames of groups only. */
  readonly pid: Uint32Array | null;
  /** Comms; key frames only. */
  readonly names: readonly string[] | null;
  readonly tables: FrameTables;
}

type Decoded = Omit<Frame, "tables">;

const LENGTH_BYTES = 4;
const TID: ArrowField = { name: "tid", type: "uint32" };
const IDENTITY: ReadonlySet<string> = new Set(["tid", "pid", "start_ns", "name"]);
const text = new TextDecoder("utf-8", { fatal: true });

/**
 * Decoder for the frames of several targets, each target's frames in order. It remembers the
 * columns of each key frame for the delta frames after the key frame.
 */
export class FrameDecoder {
  /** Names of the counter columns, by target. */
  private readonly fields = new Map<string, readonly string[]>();

  /**
   * Decode the next frame.
   * @throws FrameError if the bytes are not a frame, the header does not fit the schema, columns
   * are missing, or no key frame came before.
   */
  decode(buffer: ArrayBuffer): Frame {
    const [header, behind] = split(buffer);
    const described = header.tables ?? [];
    const rowBytes = behind.length - described.reduce((sum, { bytes }) => sum + bytes, 0);
    if (rowBytes < 0 || (described.length > 0 && rowBytes % 8 !== 0)) {
      throw new FrameError(`${rowBytes} bytes of rows before the tables`);
    }
    const tables = guarded(() => decodeTables(described, behind.subarray(rowBytes)));
    return { ...this.decodeRows(header, behind.subarray(0, rowBytes)), tables };
  }

  private decodeRows(header: FrameHeader, body: Uint8Array): Decoded {
    if (header.kind === "key") {
      const frame = keyFrame(
        header,
        guarded(() => readStream(body)),
      );
      this.fields.set(header.target, frame.fields);
      return frame;
    }
    const fields = this.fields.get(header.target);
    if (body.length === 0) return emptyFrame(header, fields ?? []);
    if (!fields) throw new FrameError("no key frame before this delta frame names its columns");
    const batch = [
      TID,
      ...chosen(header, fields).map((name) => ({ name, type: "uint64" }) as const),
    ];
    return deltaFrame(
      header,
      fields,
      guarded(() => readMessage(body, batch)),
    );
  }
}

function split(buffer: ArrayBuffer): [FrameHeader, Uint8Array] {
  if (buffer.byteLength < LENGTH_BYTES) {
    throw new FrameError(
      `a frame has at least ${LENGTH_BYTES} bytes, this one ${buffer.byteLength}`,
    );
  }
  const length = new DataView(buffer).getUint32(0, true);
  const end = LENGTH_BYTES + length;
  if (length > MAX_HEADER_BYTES || end > buffer.byteLength) {
    throw new FrameError(`header of ${length} bytes in a frame of ${buffer.byteLength}`);
  }
  if (end % 8 !== 0) {
    throw new FrameError(`the Arrow part starts at ${end}, which is not a multiple of 8`);
  }
  return [decodeHeader(buffer, length), new Uint8Array(buffer, end)];
}

function decodeHeader(buffer: ArrayBuffer, length: number): FrameHeader {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.decode(new Uint8Array(buffer, LENGTH_BYTES, length)));
  } catch (error) {
    throw new FrameError(`bad header: ${reasonOf(error)}`);
  }
  const header = checkFrameHeader(parsed);
  if (typeof header === "string") throw new FrameError(`bad header: ${header}`);
  return header;
}

function keyFrame(header: FrameHeader, read: readonly ArrowColumn[]): Decoded {
  const given = read.map(({ name }) => name).filter((name) => !IDENTITY.has(name));
  const fields = header.fields ?? given;
  if (new Set([...IDENTITY, ...fields]).size !== IDENTITY.size + fields.length) {
    throw new FrameError("two columns have one name");
  }
  const named = chosen(header, fields);
  if (named.length !== given.length || named.some((name, i) => name !== given[i])) {
    throw new FrameError(`the stream has the columns ${given}, which the header does not say`);
  }
  const start = identity(read, "start_ns", "int64").values;
  const names = identity(read, "name", "utf8").values;
  const ofGroup = read.some((column) => column.name === "pid");
  const pid = ofGroup ? identity(read, "pid", "uint32").values : null;
  return { ...deltaFrame(header, fields, read), start_ns: widen(start, null), names, pid };
}

/** Return the fields that a frame's batch has columns for. */
function chosen(header: FrameHeader, fields: readonly string[]): readonly string[] {
  const places = header.columns;
  if (!places) return fields;
  return places.map((place, i) => {
    const name = fields[place];
    if (name === undefined || (i > 0 && place <= (places[i - 1] ?? 0))) {
      throw new FrameError(`${places} are not positions of columns among ${fields.length}`);
    }
    return name;
  });
}

/** Build the rows of a delta frame; fields without a column are 0. */
function deltaFrame(
  header: FrameHeader,
  fields: readonly string[],
  read: readonly ArrowColumn[],
): Decoded {
  const tid = identity(read, "tid", "uint32").values;
  if (tid.length !== header.rows) {
    throw new FrameError(`the header says ${header.rows} rows, the batch has ${tid.length}`);
  }
  const counters = new Map<string, Float64Array>();
  for (const column of read) {
    if (IDENTITY.has(column.name)) continue;
    if (column.type !== "uint64") {
      throw new FrameError(`column ${column.name} is ${column.type}, not uint64`);
    }
    counters.set(column.name, widen(column.values, column.valid));
  }
  const zeros = new Float64Array(tid.length);
  const columns = fields.map((name) => counters.get(name) ?? zeros);
  return { header, tid, fields, columns, start_ns: null, names: null, pid: null };
}

function emptyFrame(header: FrameHeader, fields: readonly string[]): Decoded {
  if (header.rows !== 0)
    throw new FrameError(`the header says ${header.rows} rows, none are there`);
  const columns = fields.map(() => new Float64Array());
  const tid = new Uint32Array();
  return { header, tid, fields, columns, start_ns: null, names: null, pid: null };
}

function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ArrowError) throw new FrameError(`bad Arrow part: ${error.message}`);
    throw error;
  }
}

function identity<T extends ArrowColumn["type"]>(
  columns: readonly ArrowColumn[],
  name: string,
  type: T,
): ArrowColumn & { readonly type: T } {
  const column = columns.find((one) => one.name === name);
  if (!isOf(column, type)) throw new FrameError(`column ${name} (${type}) is missing`);
  if (column.valid) throw new FrameError(`column ${name} has rows without a value`);
  return column;
}

function isOf<T extends ArrowColumn["type"]>(
  column: ArrowColumn | undefined,
  type: T,
): column is ArrowColumn & { readonly type: T } {
  return column?.type === type;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
