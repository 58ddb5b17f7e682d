import { act, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useVisibility } from "./useResize";

let scroll: (inView: boolean) => void;
const disconnect = vi.fn();

class Observer {
  constructor(report: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
    scroll = (isIntersecting) => act(() => report([{ isIntersecting }]));
  }
  observe(): void {}
  disconnect(): void {
    disconnect();
  }
}

beforeEach(() => vi.stubGlobal("IntersectionObserver", Observer));
afterEach(() => vi.unstubAllGlobals());

test("what is scrolled out of view is not seen, and seen again when it comes back", () => {
  const place = { current: document.createElement("div") };
  const { result, unmount } = renderHook(() => useVisibility(place));
  expect(result.current).toBe(true);
  scroll(false);
  expect(result.current).toBe(false);
  scroll(true);
  expect(result.current).toBe(true);
  unmount();
  expect(disconnect).toHaveBeenCalledOnce();
});
