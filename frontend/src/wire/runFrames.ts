/** Frames of a run, as the backend streams them: each with a length prefix. */

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
  const headers = credential === null ? {} : { authorization: `Bearer ${credential}` };
  const response = await fetch(url, { credentials: "omit", headers, signal });
  if (!response.ok || response.body === null) throw new Error(await refusal(response));
  const reader = response.body.getReader();
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
