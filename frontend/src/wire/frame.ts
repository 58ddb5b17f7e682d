/**
 * The binary frame: one instant of one target. The counterpart of shared/tidscope_wire/frame.py,
 * which describes the layout.
 */

import { type Column, type Table, tableFromIPC } from "@uwdata/flechette";
import type { FrameHeader } from "./generated/models";
import { checkFrameHeader } from "./guards";

/** A binary message is not a frame; the text says in what way. */
export class FrameError extends Error {
  override readonly name = "FrameError";
}

/**
 * A frame, decoded. `columns[i]` holds the values of `fields[i]`, one a row; NaN = not available.
 * Values above 2^53 (104 days of nanoseconds) lose their last bits.
 */
export interface Frame {
  readonly header: FrameHeader;
  readonly tid: Uint32Array;
  readonly fields: readonly string[];
  readonly columns: readonly Float64Array[];
  /** Seconds would lose what identity needs: nanoseconds since attach. Snapshots only. */
  readonly start_ns: Float64Array | null;
  /** Comms; snapshots only. */
  readonly names: readonly string[] | null;
}

const LENGTH_BYTES = 4;
const MAX_HEADER_BYTES = 32 * 1024 * 1024;
const TWO_32 = 4294967296;
const text = new TextDecoder("utf-8", { fatal: true });

/**
 * Decode a frame.
 *
 * @throws FrameError: it is not a frame, its header does not fit the schema, or its Arrow stream is
 *   not one batch with the columns of a frame.
 */
export function decodeFrame(buffer: ArrayBuffer): Frame {
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
  return decodeRows(decodeHeader(buffer, length), new Uint8Array(buffer, end));
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

function decodeRows(header: FrameHeader, body: Uint8Array): Frame {
  let table: Table;
  try {
    table = tableFromIPC(body, { useBigInt: true });
  } catch (error) {
    throw new FrameError(`bad Arrow stream: ${reasonOf(error)}`);
  }
  const names = table.names.map(String);
  const tid = column(table, names, "tid").values;
  if (!(tid instanceof Uint32Array)) throw new FrameError("column tid is not uint32");
  const snapshot = header.kind === "snapshot";
  const fields: string[] = [];
  const columns: Float64Array[] = [];
  for (const name of names) {
    if (name === "tid" || name === "start_ns" || name === "name") continue;
    const { values, validity, nullCount } = column(table, names, name);
    if (!(values instanceof BigUint64Array)) throw new FrameError(`column ${name} is not uint64`);
    fields.push(name);
    columns.push(widen(values, nullCount > 0 ? validity : null));
  }
  if (!snapshot) return { header, tid, fields, columns, start_ns: null, names: null };
  const start = column(table, names, "start_ns").values;
  if (!(start instanceof BigInt64Array)) throw new FrameError("column start_ns is not int64");
  const comms = table.getChild("name");
  if (!comms) throw new FrameError("column name is missing");
  return { header, tid, fields, columns, start_ns: widen(start, null), names: toTexts(comms) };
}

function column(table: Table, names: readonly string[], name: string) {
  const batch = table.getChildAt(names.indexOf(name))?.data;
  const first = batch?.[0];
  if (!first) throw new FrameError(`column ${name} is missing`);
  if (batch.length !== 1) throw new FrameError(`${batch.length} record batches instead of one`);
  return first;
}

function toTexts(comms: Column<unknown>): string[] {
  return Array.from(comms, String);
}

/**
 * 64-bit integers as doubles, read as pairs of 32-bit words: a loop over BigInt values makes an
 * object of each. Little-endian, as Arrow's stream and every browser's host are.
 */
function widen(values: BigUint64Array | BigInt64Array, validity: Uint8Array | null): Float64Array {
  const n = values.length;
  const low = new Uint32Array(values.buffer, values.byteOffset, 2 * n);
  const high =
    values instanceof BigInt64Array ? new Int32Array(low.buffer, low.byteOffset, 2 * n) : low;
  const out = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    out[i] = (high[2 * i + 1] ?? 0) * TWO_32 + (low[2 * i] ?? 0);
  }
  if (validity) {
    for (let i = 0; i < n; i++) {
      if (((validity[i >> 3] ?? 0) & (1 << (i & 7))) === 0) out[i] = Number.NaN;
    }
  }
  return out;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
