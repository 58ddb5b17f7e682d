import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type Scrolling, watchScrolling } from "./scrolling";

let scrolling: Scrolling;
const page = new EventTarget();
const call = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  call.mockReset();
  scrolling = watchScrolling(page);
});

afterEach(() => {
  scrolling.dispose();
  vi.useRealTimers();
});

function scroll(): void {
  page.dispatchEvent(new Event("scroll"));
}

it("waits for nothing while nobody scrolls", () => {
  scrolling.whenStill(call);
  expect(call).toHaveBeenCalledOnce();
});

it("waits until a scroll has ended", () => {
  scroll();
  scrolling.whenStill(call);
  vi.advanceTimersByTime(100);
  scroll();
  vi.advanceTimersByTime(149);
  expect(call).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(call).toHaveBeenCalledOnce();
});

it("does not wait for ever for who scrolls on and on", () => {
  scroll();
  scrolling.whenStill(call);
  for (let passed_ms = 0; passed_ms < 390; passed_ms += 10) {
    vi.advanceTimersByTime(10);
    scroll();
  }
  expect(call).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10);
  expect(call).toHaveBeenCalledOnce();
});

it("looks at scrolling no more once it is disposed of", () => {
  scrolling.dispose();
  scroll();
  scrolling.whenStill(call);
  expect(call).toHaveBeenCalledOnce();
});
