import { renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useVisibility } from "./useVisibility";

let scroll: (inView: boolean) => void;

class Observer {
  constructor(report: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
    scroll = (isIntersecting) => report([{ isIntersecting }]);
  }
  observe(): void {}
  disconnect(): void {}
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("IntersectionObserver", Observer);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Something that is drawn by `draw`. */
function shown(draw: () => void) {
  const place = { current: document.createElement("div") };
  const { result, unmount } = renderHook(() => useVisibility(place, draw));
  return { drawNext: result.current, unmount };
}

test("in view every change is drawn at once", () => {
  const draw = vi.fn();
  const { drawNext } = shown(draw);
  for (let change = 0; change < 3; change++) drawNext();
  expect(draw).toHaveBeenCalledTimes(3);
});

test("out of view the last of a burst of changes is drawn a second later, once", () => {
  const draw = vi.fn();
  const { drawNext } = shown(draw);
  scroll(false);
  for (let change = 0; change < 3; change++) drawNext();
  expect(draw).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1000);
  expect(draw).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(5000);
  expect(draw).toHaveBeenCalledTimes(2);
});

test("coming into view draws at once, and nothing again later", () => {
  const draw = vi.fn();
  const { drawNext } = shown(draw);
  scroll(false);
  drawNext();
  drawNext();
  scroll(true);
  expect(draw).toHaveBeenCalledTimes(2);
  vi.advanceTimersByTime(5000);
  expect(draw).toHaveBeenCalledTimes(2);
});

test("what is gone is not drawn", () => {
  const draw = vi.fn();
  const { drawNext, unmount } = shown(draw);
  scroll(false);
  drawNext();
  drawNext();
  unmount();
  vi.advanceTimersByTime(5000);
  expect(draw).toHaveBeenCalledTimes(1);
});
