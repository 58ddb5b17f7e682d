/**
 * Broken frames, the same in every run: a decoded frame is consistent, every other one is a
 * FrameError. `FUZZ_FRAMES=1000000 FUZZ_SEED=2 npx vitest run --root frontend frame.fuzz` runs
 * more.
 */

import { createReadStream, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { type Frame, FrameDecoder, FrameError, type Table } from "./frame";
import { COLUMNS } from "./generated/frameTables";
import type { TableName } from "./generated/models";

const FRAMES = read("frames") as Record<string, { readonly frame: string }>;
const CORPUS = read("corpus") as Record<string, Record<string, string>>;
const COUNT = Number(process.env.FUZZ_FRAMES ?? 5000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);

/** Decoded before the other frames, so that their columns are known. */
const KEY = bytesOf(FRAMES.key?.frame ?? "");
const VERDICTS = process.env.FUZZ_VERDICTS;

interface Rows {
  readonly tid: readonly number[];
  readonly columns: Readonly<Record<string, readonly (number | null)[]>>;
  readonly start_ns: readonly number[] | null;
  readonly names: readonly string[] | null;
  readonly pid: readonly number[] | null;
}

function rowsOf(frame: Frame): Rows {
  const columns = frame.columns.map((column) =>
    [...column].map((value) => (Number.isNaN(value) ? null : value)),
  );
  return {
    tid: [...frame.tid],
    columns: Object.fromEntries(frame.fields.map((field, i) => [field, columns[i] ?? []])),
    start_ns: frame.start_ns && [...frame.start_ns],
    names: frame.names,
    pid: frame.pid && [...frame.pid],
  };
}

function read(name: string): unknown {
  const file = new URL(`../../../tests/contract/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}

/** Mulberry32: random integers below a bound. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const TELLING = [0, 1, 2, 4, 8, 16, 127, 128, 254, 255];

function broken(whole: Uint8Array, roll: (below: number) => number): Uint8Array {
  const made = whole.slice();
  for (let patch = roll(5); patch >= 0; patch--) {
    made[roll(made.length)] = roll(2) ? (TELLING[roll(TELLING.length)] ?? 0) : roll(256);
  }
  return roll(20) ? made : made.slice(0, roll(made.length));
}

function decoded(bytes: Uint8Array): Frame | null {
  try {
    const decoder = new FrameDecoder();
    decoder.decode(KEY.slice().buffer);
    return decoder.decode(bytes.slice().buffer);
  } catch (error) {
    if (error instanceof FrameError) return null;
    throw error;
  }
}

/** Return the inconsistency of a decoded frame, or null if it is consistent. */
function fault(frame: Frame): string | null {
  const rows = frame.tid.length;
  if (frame.columns.length !== frame.fields.length) return "columns without names";
  if (frame.columns.some((column) => column.length !== rows)) return "columns of another length";
  if (new Set(frame.fields).size !== frame.fields.length) return "two columns of one name";
  const described = frame.header.tables ?? [];
  const tables = new Map<string, Table<TableName>>(Object.entries(frame.tables));
  if (described.length !== tables.size) return "other tables than the header says";
  for (const { name, rows: count } of described) {
    const columns: [string, ArrayLike<unknown>][] = Object.entries(tables.get(name)?.columns ?? {});
    const named = columns.map(([column]) => column).join();
    if (named !== Object.keys(COLUMNS[name]).join()) return "other columns than the table has";
    if (columns.some(([, values]) => values.length !== count)) return "a table of other lengths";
  }
  if (frame.header.kind !== "key")
    return frame.names || frame.start_ns || frame.pid ? "identity" : null;
  if (frame.names?.length !== rows || frame.start_ns?.length !== rows) return "no identity";
  if (frame.pid && frame.pid.length !== rows) return "processes of other rows";
  return frame.names.every((name) => typeof name === "string") ? null : "a name that is no text";
}

/** Compare with the verdicts of tests/fuzz/verdicts.py; either decoder may be the stricter one. */
async function agreement(file: string): Promise<void> {
  let both = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const reported = JSON.parse(line) as { readonly frame: string; readonly rows: Rows | null };
    const frame = decoded(Uint8Array.from(Buffer.from(reported.frame, "base64")));
    if (!frame || !reported.rows) continue;
    both++;
    // Identities in a delta frame are ignored.
    const identity = frame.names ? {} : { names: null, start_ns: null, pid: null };
    expect(rowsOf(frame), reported.frame).toEqual({ ...reported.rows, ...identity });
  }
  expect(both).toBeGreaterThan(0);
}

describe("FrameDecoder, given broken frames", () => {
  const golden = Object.values(FRAMES).map(({ frame }) => bytesOf(frame));

  it("decodes what is whole", () => {
    expect(golden.map((bytes) => decoded(bytes) && fault(decoded(bytes) as Frame))).toEqual(
      golden.map(() => null),
    );
  });

  it(`refuses, or gives what holds together: ${COUNT} frames`, { timeout: 3_600_000 }, () => {
    const roll = dice(SEED);
    let accepted = 0;
    for (let i = 0; i < COUNT; i++) {
      const bytes = broken(golden[roll(golden.length)] ?? new Uint8Array(), roll);
      let wrong: string | null = null;
      try {
        const frame = decoded(bytes);
        accepted += frame ? 1 : 0;
        wrong = frame && fault(frame);
      } catch (error) {
        wrong = String(error);
      }
      if (wrong) expect.fail(`frame ${i}: ${wrong}\n${Buffer.from(bytes).toString("base64")}`);
    }
    // Some patches change only a number, some break the frame: both paths are covered.
    expect(accepted).toBeGreaterThan(COUNT / 20);
    expect(accepted).toBeLessThan(COUNT - COUNT / 20);
  });

  if (VERDICTS) {
    it("agrees with the Python decoder", { timeout: 3_600_000 }, () => agreement(VERDICTS));
  }

  it.each(Object.entries(CORPUS.frame ?? {}))(
    "refuses what once broke a decoder: %s",
    (_, base64) => {
      expect(decoded(bytesOf(base64))).toBeNull();
    },
  );
});
