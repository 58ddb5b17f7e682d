import {
  columnFromArray,
  float32,
  float64,
  int32,
  int64,
  tableFromColumns,
  tableToIPC,
  uint32,
  uint64,
  utf8,
} from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { batchOf } from "../testing/frames";
import { ArrowError, type ArrowField, readMessage, readStream } from "./arrow";

function stream(columns: Parameters<typeof tableFromColumns>[0]): Uint8Array {
  const bytes = tableToIPC(tableFromColumns(columns), { format: "stream" });
  if (!bytes) throw new Error("no stream");
  return bytes;
}

const whole = (): Uint8Array =>
  stream({
    tid: columnFromArray([1, 4294967295], uint32()),
    run: columnFromArray([2n ** 64n - 1n, null], uint64()),
    start: columnFromArray([-(2n ** 63n), 5n], int64()),
    name: columnFromArray(["wörk", ""], utf8()),
  });

/** A stream and the positions of its parts: the record batch's metadata and body. */
class Patched {
  readonly bytes = whole();
  readonly view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
  /** Pairs of row count and null count, one pair per column. */
  readonly nodes = this.find(4, [2, 0, 2, 1, 2, 0, 2, 0]);
  /** Pairs of offset and length, one per buffer (nine buffers). */
  readonly regions = this.find(9, [0, 0]);
  readonly body = this.bodyStart();

  /** Position of the vector that starts with these pairs, after its count. */
  private find(count: number, pairs: readonly number[]): number {
    for (let at = 0; at + 4 + 8 * pairs.length <= this.bytes.length; at += 4) {
      const same = pairs.every((value, i) => this.long(at + 4 + 8 * i) === value);
      if (this.view.getUint32(at, true) === count && same) return at + 4;
    }
    throw new Error(`no ${count} pairs`);
  }

  private bodyStart(): number {
    const batch = 8 + this.view.getUint32(4, true);
    return batch + 8 + this.view.getUint32(batch + 4, true);
  }

  long(at: number): number {
    return Number(this.view.getBigInt64(at, true));
  }

  setLong(at: number, value: number): this {
    this.view.setBigInt64(at, BigInt(value), true);
    return this;
  }

  /** Replaces a name in the schema by another of the same length. */
  rename(from: string, to: string): this {
    const at = Buffer.from(this.bytes).indexOf(from);
    this.bytes.set(new TextEncoder().encode(to), at);
    return this;
  }
}

describe("readStream", () => {
  it("reads each type of column", () => {
    const columns = readStream(whole());
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ["tid", "uint32"],
      ["run", "uint64"],
      ["start", "int64"],
      ["name", "utf8"],
    ]);
    expect(columns.map(({ values }) => [...values])).toEqual([
      [1, 4294967295],
      [2n ** 64n - 1n, 0n],
      [-(2n ** 63n), 5n],
      ["wörk", ""],
    ]);
    expect(columns.map(({ valid }) => valid && (valid[0] ?? 0) & 3)).toEqual([null, 1, null, null]);
  });

  it("does not need the mark at the end", () => {
    const bytes = whole();
    expect([...bytes.slice(-8)]).toEqual([255, 255, 255, 255, 0, 0, 0, 0]);
    expect(readStream(bytes.slice(0, -8))).toHaveLength(4);
  });

  it("refuses a stream that is cut at any other byte", () => {
    const bytes = whole();
    for (let cut = 0; cut < bytes.length - 8; cut++) {
      expect(() => readStream(bytes.slice(0, cut)), `cut at ${cut}`).toThrow(ArrowError);
    }
  });

  it.each([
    ["a type that frames do not have", { tid: columnFromArray([1.5], float64()) }, /of a type/],
    ["signed 32 bits", { tid: columnFromArray([1], int32()) }, /of a type/],
  ])("refuses %s", (_, columns, reason) => {
    expect(() => readStream(stream(columns))).toThrow(reason);
  });

  it("refuses a second batch, a schema alone and nothing", () => {
    const bytes = whole();
    const schema = 8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
    const batch = bytes.slice(schema, -8);
    expect(() => readStream(Uint8Array.of(...bytes.slice(0, -8), ...batch))).toThrow(
      /more than one/,
    );
    expect(() => readStream(bytes.slice(0, schema))).toThrow(/no record batch/);
    expect(() => readStream(batch)).toThrow(/does not start with a schema/);
    expect(() => readStream(new Uint8Array())).toThrow(/does not start with a schema/);
  });

  it("ends on a length below 0, on which a reader may turn in a circle", () => {
    const circle = Uint8Array.of(255, 255, 255, 255, 248, 255, 255, 255);
    expect(() => readStream(circle)).toThrow(ArrowError);
  });

  it("finds what the tests below change", () => {
    const { bytes, nodes, regions, body, view } = new Patched();
    expect(readStream(bytes)).toHaveLength(4);
    expect(nodes).not.toBe(regions);
    // The offsets of the two names, in the eighth buffer.
    const offsets = body + Number(view.getBigInt64(regions + 16 * 7, true));
    expect([0, 4, 8].map((at) => view.getInt32(offsets + at, true))).toEqual([0, 5, 5]);
  });

  it.each([0, 1, 2, 3])("refuses column %i with another number of rows", (column) => {
    for (const rows of [0, 1, 3, -2, 2 ** 40]) {
      const patched = new Patched();
      patched.setLong(patched.nodes + 16 * column, rows);
      expect(() => readStream(patched.bytes), `${rows} rows`).toThrow(ArrowError);
    }
  });

  it.each([0, 1, 2, 3])("refuses column %i with another number of rows without value", (column) => {
    for (const missing of [-1, 2, 3, 2 ** 40]) {
      const patched = new Patched();
      patched.setLong(patched.nodes + 16 * column + 8, missing);
      expect(() => readStream(patched.bytes), `${missing} missing`).toThrow(ArrowError);
    }
  });

  it("refuses a buffer that is not in the body, or too short", () => {
    for (let buffer = 0; buffer < 9; buffer++) {
      const at = new Patched().regions + 16 * buffer;
      const changes: [number, number][] = [];
      for (const offset of [-8, -(2 ** 40), 4, 1 << 20, 2 ** 40]) changes.push([at, offset]);
      for (const length of [-8, 1 << 20, 2 ** 40]) changes.push([at + 8, length]);
      // Buffers that this stream's columns need: one bitmap, the numbers, offsets and texts.
      if ([1, 2, 3, 5, 7, 8].includes(buffer)) changes.push([at + 8, 0]);
      for (const [place, value] of changes) {
        const patched = new Patched();
        patched.setLong(place, value);
        expect(() => readStream(patched.bytes), `buffer ${buffer}: ${value}`).toThrow(ArrowError);
      }
    }
  });

  it.each([
    [-1, 5, 5],
    [0, 6, 5],
    [0, 5, 4],
    [0, 5, 1000],
    [0, -1, 5],
    [0, 2, 5], // in the middle of a two-byte character
  ])("refuses texts at %i, %i, %i", (...offsets) => {
    const { bytes, view, body, regions } = new Patched();
    const at = body + Number(view.getBigInt64(regions + 16 * 7, true));
    offsets.forEach((offset, i) => {
      view.setInt32(at + 4 * i, offset, true);
    });
    expect(() => readStream(bytes)).toThrow(ArrowError);
  });

  it("refuses two columns of one name, and a name that is no text", () => {
    expect(() => readStream(new Patched().rename("run", "tid").bytes)).toThrow(/one name/);
    const { bytes } = new Patched();
    bytes[Buffer.from(bytes).indexOf("run")] = 0xff;
    expect(() => readStream(bytes)).toThrow(ArrowError);
  });

  it("refuses a name that reaches out of the schema", () => {
    const { bytes, view } = new Patched();
    const at = Buffer.from(bytes).indexOf("run");
    const end = 8 + view.getUint32(4, true);
    view.setUint32(at - 4, end - at + 8, true);
    expect(() => readStream(bytes)).toThrow(/a vector of/);
  });
});

describe("readMessage", () => {
  const fields: readonly ArrowField[] = [
    { name: "tid", type: "uint32" },
    { name: "run", type: "uint64" },
  ];
  const two = (): Uint8Array =>
    batchOf(
      stream({
        tid: columnFromArray([1, 2], uint32()),
        run: columnFromArray([2n ** 64n - 1n, null], uint64()),
      }),
      2,
    );

  it("reads a batch whose columns are known", () => {
    const [tid, run] = readMessage(two(), fields);
    expect([tid?.name, run?.name]).toEqual(["tid", "run"]);
    expect([...(tid?.values ?? [])]).toEqual([1, 2]);
    expect(run?.values[0]).toBe(2n ** 64n - 1n);
    expect(run?.valid?.[0]).toBe(1);
  });

  it("refuses it with other columns than those", () => {
    expect(() => readMessage(two(), fields.slice(0, 1))).toThrow(/2 nodes and 4 buffers for 1/);
    expect(() => readMessage(two(), [...fields, { name: "x", type: "uint64" }])).toThrow(/for 3/);
    expect(() => readMessage(two(), [{ name: "tid", type: "uint64" }, ...fields.slice(1)])).toThrow(
      /16 are needed/,
    );
  });

  it("refuses what is no batch, or more than one", () => {
    const bytes = two();
    expect(() => readMessage(Uint8Array.of(...bytes, ...new Uint8Array(8)), fields)).toThrow(
      /8 bytes behind the record batch/,
    );
    expect(() => readMessage(whole(), fields)).toThrow(/not a record batch/);
    expect(() => readMessage(new Uint8Array(), fields)).toThrow(/not a record batch/);
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(() => readMessage(bytes.slice(0, cut), fields), `cut at ${cut}`).toThrow(ArrowError);
    }
  });
});

it("reads single floats, which tables of rates have", () => {
  const [column] = readStream(stream({ rate: columnFromArray([0.5, Number.NaN], float32()) }));
  expect(column).toMatchObject({ name: "rate", type: "float32", valid: null });
  expect([...(column?.values ?? [])]).toEqual([0.5, Number.NaN]);
});
