/**
 * Least and greatest rates between the instants of a run, as the backend sends them (docs/runs.md).
 */

import { ArrowError, readStream } from "./arrow";

/** One row per thread and time span, ordered by thread and time. */
export interface ExtremesTable {
  /** Thread ID, or 0 for the process as a whole. */
  readonly tid: Uint32Array;
  readonly start_ns: Float64Array;
  readonly from_s: Float64Array;
  readonly to_s: Float64Array;
  /**
   * Rates by "FIELD_least" and "FIELD_greatest", in counter units per second; NaN if there is no
   * rate.
   */
  readonly rates: ReadonlyMap<string, Float32Array>;
}

/**
 * Decode a table.
 * @throws ArrowError if the bytes are not a table.
 */
export function decodeExtremes(buffer: ArrayBuffer): ExtremesTable {
  const integers = new Map<string, Float64Array>();
  const rates = new Map<string, Float32Array>();
  let tid: Uint32Array | null = null;
  for (const { name, type, values, valid } of readStream(new Uint8Array(buffer))) {
    if (valid) throw new ArrowError(`column ${name} has rows without a value`);
    if (type === "float32") rates.set(name, values);
    else if (type === "int64") integers.set(name, Float64Array.from(values, Number));
    else if (type === "uint32" && name === "tid") tid = values;
    else throw new ArrowError(`column ${name} is ${type}`);
  }
  const integer = (name: string): Float64Array => {
    const found = integers.get(name);
    if (!found) throw new ArrowError(`column ${name} is missing`);
    return found;
  };
  if (!tid) throw new ArrowError("column tid is missing");
  const seconds = (name: string) => integer(name).map((value) => value / 1e9);
  const start_ns = integer("start_ns");
  return { tid, start_ns, from_s: seconds("from_ns"), to_s: seconds("to_ns"), rates };
}
