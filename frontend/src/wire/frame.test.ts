import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { encodeFrame, frame } from "../testing/frames";
import { type Frame, FrameDecoder, FrameError } from "./frame";

const FRAMES = new URL("../../../tests/contract/frames.json", import.meta.url);

interface Expected {
  /** The whole frame, in base64. */
  readonly frame: string;
  readonly header: unknown;
  readonly tid: number[];
  readonly columns: Record<string, (number | null)[]>;
  readonly start_ns: number[] | null;
  readonly names: string[] | null;
  readonly pid: number[] | null;
  readonly tables: Record<string, Record<string, unknown[]>>;
}

const EXPECTED = JSON.parse(readFileSync(FRAMES, "utf8")) as Record<string, Expected>;

function golden(name: string): ArrayBuffer {
  return Uint8Array.from(Buffer.from(EXPECTED[name]?.frame ?? "", "base64")).buffer;
}

/** Columns of its tables, by name. */
function tablesOf(frame: Frame): Expected["tables"] {
  const columns = ([name, table]: [string, { readonly columns: object }]) => [
    name,
    Object.fromEntries(
      Object.entries<ArrayLike<unknown>>({ ...table.columns }).map(([column, values]) => [
        column,
        Array.from(values),
      ]),
    ),
  ];
  return Object.fromEntries(Object.entries(frame.tables).map(columns));
}

/** Decode a frame, after its key frame if the frame is a delta. */
function decodeFrame(data: ArrayBuffer): Frame {
  const decoder = new FrameDecoder();
  decoder.decode(golden("key"));
  return decoder.decode(data);
}

describe("FrameDecoder", () => {
  it.each(Object.entries(EXPECTED))(
    "reads what the collector's codec wrote: %s",
    (name, expected) => {
      const decoded = decodeFrame(golden(name));
      expect(decoded.header).toEqual(expected.header);
      expect([...decoded.tid]).toEqual(expected.tid);
      expect(decoded.fields).toEqual(Object.keys(expected.columns));
      const columns = decoded.columns.map((column) =>
        [...column].map((value) => (Number.isNaN(value) ? null : value)),
      );
      expect(columns).toEqual(Object.values(expected.columns));
      expect(decoded.start_ns && [...decoded.start_ns]).toEqual(expected.start_ns);
      expect(decoded.names).toEqual(expected.names);
      expect(decoded.pid && [...decoded.pid]).toEqual(expected.pid);
      expect(tablesOf(decoded)).toEqual(expected.tables);
    },
  );

  it("reads back what another Arrow writer made", () => {
    const made = frame({ seq: 1 }, [
      { tid: 7, start_s: -3, name: "main", counters: { cpu_run_ns: 5e12 } },
    ]);
    const decoded = decodeFrame(encodeFrame(made));
    expect(decoded).toEqual(made);
  });

  it("refuses positions and names that do not fit the columns", () => {
    const key = frame({ seq: 1 }, [{ tid: 7, start_s: 0, name: "main", counters: {} }]);
    const delta = frame({ seq: 2 }, [{ tid: 7, counters: {} }]);
    const decode = (of: Frame, changes: Partial<Frame["header"]>) => {
      const decoder = new FrameDecoder();
      decoder.decode(encodeFrame(key));
      return () => decoder.decode(encodeFrame({ ...of, header: { ...of.header, ...changes } }));
    };
    expect(decode(delta, { columns: [0, 1, 2, 3, 4, 5, 6] })().fields).toEqual(key.fields);
    for (const columns of [[7], [0, 0], [1, 0]]) {
      expect(decode(delta, { columns })).toThrow(/not positions of columns/);
    }
    expect(decode(delta, { columns: [0] })).toThrow(/nodes/);
    expect(decode(key, { columns: [0] })).toThrow(/which the header does not say/);
    expect(decode(key, { fields: ["cpu_run_ns"] })).toThrow(/which the header does not say/);
    expect(decode(key, { fields: ["tid", ...key.fields] })).toThrow(/two columns have one name/);
  });

  it("knows the columns of a delta by the key frame before it, of each target its own", () => {
    const decoder = new FrameDecoder();
    const missing = /no key frame before this delta frame/;
    expect(() => decoder.decode(golden("delta"))).toThrow(missing);
    expect(decoder.decode(golden("empty")).fields).toEqual([]);
    decoder.decode(golden("key"));
    expect(decoder.decode(golden("delta")).fields).toEqual(decoder.decode(golden("key")).fields);
    expect(decoder.decode(golden("empty")).columns.length).toBeGreaterThan(0);
    const other = frame({ seq: 2, target: "t-2-00000000" }, [{ tid: 7, counters: {} }]);
    expect(() => decoder.decode(encodeFrame(other))).toThrow(missing);
  });

  it.each([
    ["too short", () => new ArrayBuffer(3), /at least 4 bytes, this one 3/],
    ["header beyond the end", () => Uint8Array.of(255, 0, 0, 0, 1).buffer, /header of 255 bytes/],
    ["crooked", () => Uint8Array.of(1, 0, 0, 0, 32).buffer, /not a multiple of 8/],
    ["not JSON", () => Uint8Array.of(4, 0, 0, 0, 32, 32, 32, 32).buffer, /bad header/],
    ["cut off", () => golden("key").slice(0, -300), /./],
  ])("refuses what is no frame: %s", (_, make, reason) => {
    expect(() => decodeFrame(make())).toThrow(FrameError);
    expect(() => decodeFrame(make())).toThrow(reason);
  });
});
