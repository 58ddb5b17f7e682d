import { describe, expect, it } from "vitest";
import { FrameSplitter } from "./runFrames";

/** Prefix each frame with its length. */
function framed(...frames: readonly (readonly number[])[]): Uint8Array {
  return Uint8Array.from(frames.flatMap((frame) => [frame.length, 0, 0, 0, ...frame]));
}
const bytesOf = (frames: readonly ArrayBuffer[]) =>
  frames.map((frame) => [...new Uint8Array(frame)]);

describe("FrameSplitter", () => {
  it("cuts wherever the bytes come in", () => {
    const all = framed([1, 2, 3], [], [4, 5]);
    for (let cut = 0; cut <= all.length; cut++) {
      const splitter = new FrameSplitter();
      const frames = [...splitter.push(all.subarray(0, cut)), ...splitter.push(all.subarray(cut))];
      expect(bytesOf(frames)).toEqual([[1, 2, 3], [], [4, 5]]);
      expect(splitter.rest).toBe(0);
    }
  });

  it("knows of a frame that did not come to its end", () => {
    const splitter = new FrameSplitter();
    expect(bytesOf(splitter.push(framed([1], [2, 3]).subarray(0, 10)))).toEqual([[1]]);
    expect(splitter.rest).toBe(5);
  });

  it("refuses a length that cannot be one", () => {
    expect(() => new FrameSplitter().push(new Uint8Array([0, 0, 0, 255]))).toThrow("4278190080");
  });
});
