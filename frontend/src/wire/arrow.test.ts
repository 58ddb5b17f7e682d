import {
  columnFromArray,
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
import { ArrowError, readArrow } from "./arrow";

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

describe("readArrow", () => {
  it("reads each type of column", () => {
    const columns = readArrow(whole());
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
    expect(readArrow(bytes.slice(0, -8))).toHaveLength(4);
  });

  it("refuses a stream that is cut at any other byte", () => {
    const bytes = whole();
    for (let cut = 0; cut < bytes.length - 8; cut++) {
      expect(() => readArrow(bytes.slice(0, cut)), `cut at ${cut}`).toThrow(ArrowError);
    }
  });

  it.each([
    ["a type that frames do not have", { tid: columnFromArray([1.5], float64()) }, /of a type/],
    ["signed 32 bits", { tid: columnFromArray([1], int32()) }, /of a type/],
  ])("refuses %s", (_, columns, reason) => {
    expect(() => readArrow(stream(columns))).toThrow(reason);
  });

  it("refuses a second batch, a schema alone and nothing", () => {
    const bytes = whole();
    const schema = 8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(4, true);
    const batch = bytes.slice(schema, -8);
    expect(() => readArrow(Uint8Array.of(...bytes.slice(0, -8), ...batch))).toThrow(
      /more than one/,
    );
    expect(() => readArrow(bytes.slice(0, schema))).toThrow(/no record batch/);
    expect(() => readArrow(batch)).toThrow(/does not start with a schema/);
    expect(() => readArrow(new Uint8Array())).toThrow(/does not start with a schema/);
  });

  it("ends on a length below 0, on which a reader may turn in a circle", () => {
    const circle = Uint8Array.of(255, 255, 255, 255, 248, 255, 255, 255);
    expect(() => readArrow(circle)).toThrow(ArrowError);
  });
});
