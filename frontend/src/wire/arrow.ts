/**
 * Reader of an Arrow IPC stream with one record batch of integers and text, and of a record batch
 * message whose columns are known. It supports only what frames contain. Every length is checked
 * against its container. A broken length is an ArrowError, never a wrong number, a read past the
 * end, or an endless loop. Source: Arrow's format/Message.fbs and format/Schema.fbs; the
 * FlatBuffers binary format.
 */

/** The bytes are not a valid stream or message; the text says why. */
export class ArrowError extends Error {
  override readonly name = "ArrowError";
}

/** A column. `valid` is a bitmap, least significant bit first, or null if every row has a value. */
export type ArrowColumn = { readonly name: string; readonly valid: Uint8Array | null } & (
  | { readonly type: "uint32"; readonly values: Uint32Array }
  | { readonly type: "uint64"; readonly values: BigUint64Array }
  | { readonly type: "int64"; readonly values: BigInt64Array }
  | { readonly type: "float32"; readonly values: Float32Array }
  | { readonly type: "utf8"; readonly values: readonly string[] }
);

type Type = ArrowColumn["type"];
/** A column's name and type. */
export interface ArrowField {
  readonly name: string;
  readonly type: Type;
}
interface Message {
  readonly kind: number;
  readonly header: FlatTable;
  readonly body: Uint8Array;
  readonly end: number;
}

const CONTINUATION = 0xffffffff;
const SCHEMA = 1;
const RECORD_BATCH = 3;
const INT = 2;
const FLOAT = 3;
const SINGLE = 1;
const UTF8 = 5;
const MAX_COUNT = 2 ** 31;
const TWO_32 = 2 ** 32;
const text = new TextDecoder("utf-8", { fatal: true });

/**
 * Read a stream.
 * @param stream starts at a multiple of 8 of its buffer.
 * @returns its columns, all of one length; views of the stream where possible.
 * @throws ArrowError if the stream is invalid.
 */
export function readStream(stream: Uint8Array): ArrowColumn[] {
  return guarded(() => {
    const first = messageAt(stream, 0);
    if (first?.kind !== SCHEMA) throw new ArrowError("it does not start with a schema");
    const fields = readSchema(first.header);
    const batch = messageAt(stream, first.end);
    if (batch?.kind !== RECORD_BATCH) throw new ArrowError("no record batch behind the schema");
    if (messageAt(stream, batch.end)) throw new ArrowError("more than one record batch");
    return readBatch(batch, fields);
  });
}

/**
 * Read a record batch.
 * @param bytes exactly the message; starts at a multiple of 8 of its buffer.
 * @param fields its columns, in order.
 * @returns as readStream.
 * @throws ArrowError if the message is invalid.
 */
export function readMessage(bytes: Uint8Array, fields: readonly ArrowField[]): ArrowColumn[] {
  return guarded(() => {
    const batch = messageAt(bytes, 0);
    if (batch?.kind !== RECORD_BATCH) throw new ArrowError("it is not a record batch");
    if (batch.end !== bytes.length) {
      throw new ArrowError(`${bytes.length - batch.end} bytes behind the record batch`);
    }
    return readBatch(batch, fields);
  });
}

function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    // DataView, typed arrays and TextDecoder throw RangeError or TypeError for reads outside their
    // buffer.
    if (error instanceof RangeError || error instanceof TypeError) {
      throw new ArrowError(error.message);
    }
    throw error;
  }
}

/** Return the message at a position, or null at the end of the stream. */
function messageAt(stream: Uint8Array, at: number): Message | null {
  if (at === stream.length) return null;
  const view = new DataView(stream.buffer, stream.byteOffset, stream.length);
  if (view.getUint32(at, true) !== CONTINUATION) throw new ArrowError(`no message at ${at}`);
  const length = view.getUint32(at + 4, true);
  if (length === 0) return null;
  const start = at + 8;
  if (length % 8 !== 0) throw new ArrowError(`metadata of ${length} bytes, not a multiple of 8`);
  const metadata = new DataView(stream.buffer, stream.byteOffset + start, length);
  const message = FlatTable.root(metadata);
  const bodyLength = message.long(3);
  const body = start + length;
  if (bodyLength > stream.length - body) {
    throw new ArrowError(`body of ${bodyLength} bytes, ${stream.length - body} are there`);
  }
  const header = message.table(2);
  if (!header) throw new ArrowError("message without a header");
  const end = body + bodyLength;
  return { kind: message.byte(1), header, body: stream.subarray(body, end), end };
}

function readSchema(schema: FlatTable): ArrowField[] {
  if (schema.short(0) !== 0) throw new ArrowError("numbers are big-endian");
  const fields = schema.tables(1).map((field) => {
    const name = field.text(0);
    if (field.table(4)) throw new ArrowError(`column ${name} has a dictionary`);
    return { name, type: readType(name, field.byte(2), field.table(3)) };
  });
  const names = new Set(fields.map((field) => field.name));
  if (names.size !== fields.length) throw new ArrowError("two columns have one name");
  return fields;
}

function readType(name: string, kind: number, type: FlatTable | null): Type {
  if (kind === UTF8) return "utf8";
  if (kind === FLOAT && type?.short(0) === SINGLE) return "float32";
  const bits = kind === INT && type ? type.int(0) : 0;
  const signed = type?.byte(1) === 1;
  if (bits === 64) return signed ? "int64" : "uint64";
  if (bits === 32 && !signed) return "uint32";
  throw new ArrowError(`column ${name} is of a type that no column of a frame has`);
}

function readBatch(message: Message, fields: readonly ArrowField[]): ArrowColumn[] {
  const { header, body } = message;
  if (header.table(3)) throw new ArrowError("the record batch is compressed");
  const rows = header.long(0);
  const nodes = header.pairs(1);
  const regions = header.pairs(2);
  const wanted = fields.reduce((sum, field) => sum + (field.type === "utf8" ? 3 : 2), 0);
  if (nodes.length !== fields.length || regions.length !== wanted) {
    throw new ArrowError(
      `${nodes.length} nodes and ${regions.length} buffers for ${fields.length} columns`,
    );
  }
  let next = 0;
  const buffer = (bytes: number): Uint8Array => {
    const [offset, length] = regions[next++] ?? [0, 0];
    if (offset % 8 !== 0 || offset + length > body.length || length < bytes) {
      throw new ArrowError(
        `buffer of ${length} bytes at ${offset} in a body of ${body.length}, ${bytes} are needed`,
      );
    }
    return body.subarray(offset, offset + length);
  };
  return fields.map(({ name, type }, i) => {
    const [length, missing] = nodes[i] ?? [0, 0];
    if (length !== rows) throw new ArrowError(`column ${name} has ${length} rows of ${rows}`);
    const bitmap = buffer(missing > 0 ? Math.ceil(rows / 8) : 0);
    const valid = missing > 0 ? bitmap : null;
    if (valid && countMissing(valid, rows) !== missing) {
      throw new ArrowError(`column ${name} has not ${missing} rows without a value`);
    }
    if (type === "utf8") {
      const offsets = rows > 0 ? numbers(buffer(4 * (rows + 1)), Int32Array, rows + 1) : null;
      if (!offsets) buffer(0);
      return { name, type, valid, values: readTexts(name, offsets, buffer(0), valid) };
    }
    if (type === "float32") {
      return { name, type, valid, values: numbers(buffer(4 * rows), Float32Array, rows) };
    }
    if (type === "uint32") {
      return { name, type, valid, values: numbers(buffer(4 * rows), Uint32Array, rows) };
    }
    if (type === "uint64") {
      return { name, type, valid, values: numbers(buffer(8 * rows), BigUint64Array, rows) };
    }
    return { name, type, valid, values: numbers(buffer(8 * rows), BigInt64Array, rows) };
  });
}

function numbers<T>(
  bytes: Uint8Array,
  Kind: new (buffer: ArrayBufferLike, offset: number, length: number) => T,
  rows: number,
): T {
  return new Kind(bytes.buffer, bytes.byteOffset, rows);
}

/**
 * Convert 64-bit integers to doubles by pairs of 32-bit words: a loop over BigInt values allocates
 * an object for each. Little-endian, as Arrow's stream and every browser's host are.
 */
export function widen(
  values: BigUint64Array | BigInt64Array,
  validity: Uint8Array | null,
): Float64Array {
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

function countMissing(valid: Uint8Array, rows: number): number {
  let missing = 0;
  for (let i = 0; i < rows; i++) {
    if (((valid[i >> 3] ?? 0) & (1 << (i & 7))) === 0) missing++;
  }
  return missing;
}

function readTexts(
  name: string,
  offsets: Int32Array | null,
  bytes: Uint8Array,
  valid: Uint8Array | null,
): string[] {
  const texts: string[] = [];
  if (!offsets) return texts;
  for (let i = 0; i + 1 < offsets.length; i++) {
    const start = offsets[i] ?? -1;
    const end = offsets[i + 1] ?? -1;
    if (start < 0 || end < start || end > bytes.length) {
      throw new ArrowError(`column ${name} has a text from ${start} to ${end} of ${bytes.length}`);
    }
    const missing = valid && ((valid[i >> 3] ?? 0) & (1 << (i & 7))) === 0;
    texts.push(missing ? "" : text.decode(bytes.subarray(start, end)));
  }
  return texts;
}

/** A FlatBuffers table. Members are addressed by their index in the .fbs file, from 0. */
class FlatTable {
  private readonly vtable: number;

  private constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {
    this.vtable = at - view.getInt32(at, true);
    view.getUint16(this.vtable, true);
  }

  static root(view: DataView): FlatTable {
    return new FlatTable(view, view.getUint32(0, true));
  }

  byte(member: number): number {
    const at = this.place(member);
    return at ? this.view.getUint8(at) : 0;
  }

  short(member: number): number {
    const at = this.place(member);
    return at ? this.view.getInt16(at, true) : 0;
  }

  int(member: number): number {
    const at = this.place(member);
    return at ? this.view.getInt32(at, true) : 0;
  }

  /** Return an int64 that is a count or a length. */
  long(member: number): number {
    const at = this.place(member);
    return at ? this.count(at) : 0;
  }

  table(member: number): FlatTable | null {
    const at = this.place(member);
    return at ? new FlatTable(this.view, this.target(at)) : null;
  }

  tables(member: number): FlatTable[] {
    const [start, length] = this.vector(member, 4);
    return Array.from({ length }, (_, i) => new FlatTable(this.view, this.target(start + 4 * i)));
  }

  text(member: number): string {
    const [start, length] = this.vector(member, 1);
    return text.decode(new Uint8Array(this.view.buffer, this.view.byteOffset + start, length));
  }

  /** Return a vector of structs of two int64 that are counts or lengths. */
  pairs(member: number): (readonly [number, number])[] {
    const [start, length] = this.vector(member, 16);
    return Array.from(
      { length },
      (_, i) => [this.count(start + 16 * i), this.count(start + 16 * i + 8)] as const,
    );
  }

  private place(member: number): number {
    const slot = 4 + 2 * member;
    if (slot + 2 > this.view.getUint16(this.vtable, true)) return 0;
    const offset = this.view.getUint16(this.vtable + slot, true);
    return offset ? this.at + offset : 0;
  }

  private target(at: number): number {
    return at + this.view.getUint32(at, true);
  }

  private vector(member: number, itemBytes: number): readonly [number, number] {
    const at = this.place(member);
    if (!at) return [0, 0];
    const start = this.target(at);
    const length = this.view.getUint32(start, true);
    if (length * itemBytes > this.view.byteLength - start - 4) {
      throw new ArrowError(`a vector of ${length} items in ${this.view.byteLength} bytes`);
    }
    return [start + 4, length];
  }

  private count(at: number): number {
    const value = this.view.getUint32(at, true) + this.view.getInt32(at + 4, true) * 2 ** 32;
    if (value < 0 || value > MAX_COUNT) throw new ArrowError(`${value} is no count`);
    return value;
  }
}
