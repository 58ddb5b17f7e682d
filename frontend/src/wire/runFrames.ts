/**
 * Frames of a run, as the backend streams them: each with a length prefix. Least and greatest rates
 * between the instants of a run, as the backend sends them (docs/runs.md).
 */

import { ArrowError, readStream } from "./arrow";
import { MAX_FRAME_BYTES } from "./generated/limits";
import { isProblem } from "./generated/validators";

/** Bytes of a frame's length, little-endian. */
const LENGTH_BYTES = 4;

/** Splits a stream of bytes into frames. */
export class FrameSplitter {
  private held = new Uint8Array(0);

  /** Bytes buffered of an incomplete frame. */
  get rest(): number {
    return this.held.length;
  }

  /**
   * Return the frames completed by these bytes, each in its own buffer.
   * @throws Error if a length is implausible.
   */
  push(bytes: Uint8Array): ArrayBuffer[] {
    const all = new Uint8Array(this.held.length + bytes.length);
    all.set(this.held);
    all.set(bytes, this.held.length);
    const view = new DataView(all.buffer);
    const frames: ArrayBuffer[] = [];
    let at = 0;
    while (all.length - at >= LENGTH_BYTES) {
      const length = view.getUint32(at, true);
      if (length > MAX_FRAME_BYTES) throw new Error(`a frame of ${length} bytes is announced`);
      const end = at + LENGTH_BYTES + length;
      if (end > all.length) break;
      frames.push(all.slice(at + LENGTH_BYTES, end).buffer);
      at = end;
    }
    this.held = all.slice(at);
    return frames;
  }
}

/** Request frames and deliver each as it arrives. */
export type ReadFrames = (
  url: string,
  onFrame: (frame: ArrayBuffer) => void,
  signal: AbortSignal,
  credential: string | null,
) => Promise<void>;

/**
 * Read frames over HTTP.
 * @throws Error with the backend's message if refused, or if the stream breaks off within a frame.
 */
export const readFrames: ReadFrames = async (url, onFrame, signal, credential) => {
  const headers = credential ? { authorization: `Bearer ${credential}` } : {};
  const response = await fetch(url, { credentials: "omit", headers, signal });
  if (!response.ok || response.body === null) throw new Error(await refusal(response));
  // Servers may announce `.gz` as an encoding; a file named `.gzip` arrives as it is stored.
  const packed = /\.gzip(\?|$)/.test(url);
  const body = packed ? response.body.pipeThrough(new DecompressionStream("gzip")) : response.body;
  const reader = body.getReader();
  const splitter = new FrameSplitter();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (const frame of splitter.push(value)) onFrame(frame);
  }
  if (splitter.rest > 0) throw new Error("the answer broke off within a frame");
};

async function refusal(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  return isProblem(body) && body.detail !== ""
    ? body.detail
    : `the backend answered with status ${response.status}`;
}

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
