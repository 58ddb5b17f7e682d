/**
 * Browser features that component tests need and happy-dom lacks: a manual clock, sizes, and a
 * canvas. Charts draw into nothing; their texts and attributes are real.
 */

import { cleanup, configure } from "@testing-library/react";
import * as React from "react";
import { afterEach, beforeEach, vi } from "vitest";

/** Width of every element and of the window, in CSS pixels. */
const WIDTH_PX = 1440;
const HEIGHT_PX = 900;

// The default async wrapper waits for the real clock, which is stopped here. Without style sheets
// nothing is hidden by style, and checking visibility per query dominates the run time.
configure({ asyncWrapper: (call) => call(), defaultHidden: true });

// React's development build records a stack trace and an asynchronous task for each element, which
// takes a third of the CPU time of these tests. Beyond 10,000 elements a second it records neither.
const internals = "__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE";
Object.defineProperty(Reflect.get(React, internals), "recentlyCreatedOwnerStacks", {
  configurable: true,
  get: () => Number.POSITIVE_INFINITY,
  set: () => undefined,
});

for (const [name, size] of [
  ["offsetWidth", WIDTH_PX],
  ["offsetHeight", HEIGHT_PX],
  ["clientWidth", WIDTH_PX],
  ["clientHeight", HEIGHT_PX],
] as const) {
  Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => size });
}
const { happyDOM } = window as typeof window & {
  readonly happyDOM?: { readonly setViewport: (size: { width: number; height: number }) => void };
};
happyDOM?.setViewport({ width: WIDTH_PX, height: HEIGHT_PX });
HTMLElement.prototype.getBoundingClientRect = () => new DOMRect(0, 0, WIDTH_PX, HEIGHT_PX);
HTMLElement.prototype.scrollIntoView = () => undefined;
HTMLElement.prototype.setPointerCapture = () => undefined;

/** An observer that reports every element as visible. */
class Sight implements IntersectionObserver {
  readonly root = null;
  readonly rootMargin = "";
  readonly scrollMargin = "";
  readonly thresholds: readonly number[] = [];
  constructor(private readonly call: IntersectionObserverCallback) {}

  observe(target: Element): void {
    const rect = target.getBoundingClientRect();
    const time = performance.now();
    const seen = { isIntersecting: true, intersectionRatio: 1, time, target };
    const boxes = { boundingClientRect: rect, intersectionRect: rect, rootBounds: rect };
    this.call([{ ...seen, ...boxes }], this);
  }

  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): IntersectionObserverEntry[] {
    return [];
  }
}
vi.stubGlobal("IntersectionObserver", Sight);

/** Pixels for the canvas below; Node has none. */
class Pixels implements ImageData {
  readonly colorSpace = "srgb";
  readonly pixelFormat = "rgba-unorm8";
  readonly data: ImageData["data"];
  readonly width: number;
  readonly height: number;
  constructor(first: ImageData["data"] | number, width: number, height?: number) {
    this.width = typeof first === "number" ? first : width;
    this.height = typeof first === "number" ? width : (height ?? 1);
    this.data =
      typeof first === "number" ? new Uint8ClampedArray(4 * this.width * this.height) : first;
  }
}
vi.stubGlobal("ImageData", Pixels);

/** A canvas context that accepts every call and draws nothing; the canvas keeps its texts. */
function contextOf(canvas: HTMLCanvasElement): unknown {
  const answers: Readonly<Record<string, unknown>> = {
    canvas,
    clearRect: () => {
      canvas.dataset.texts = "";
    },
    fillText: (text: string) => {
      canvas.dataset.texts = `${canvas.dataset.texts ?? ""}${text}\n`;
    },
    measureText: (text: string) => ({ width: 6 * text.length }),
    getImageData: () => new Pixels(1, 1),
    createLinearGradient: () => ({ addColorStop: () => undefined }),
    createPattern: () => null,
  };
  const held = new Map<string | symbol, unknown>(Object.entries(answers));
  return new Proxy(
    {},
    {
      get: (_, name) => (held.has(name) ? held.get(name) : () => undefined),
      set: (_, name, value) => {
        held.set(name, value);
        return true;
      },
    },
  );
}
Object.defineProperty(HTMLCanvasElement.prototype, "getContext", {
  value(this: HTMLCanvasElement) {
    return contextOf(this);
  },
});

/** Calls that give each store of the page its first value: files share modules, and their stores. */
const { resets } = vi.hoisted(() => {
  const shared = globalThis as { storeResets?: (() => void)[] };
  const resets = shared.storeResets ?? [];
  shared.storeResets = resets;
  return { resets };
});
vi.mock("../base/store", async (original) => {
  const real = await original<typeof import("../base/store")>();
  const createStore = <T>(initial: T) => {
    const store = real.createStore(initial);
    resets.push(() => store.set(initial));
    return store;
  };
  return { ...real, createStore };
});

beforeEach(() => {
  vi.useFakeTimers({ now: 1_700_000_000_000 });
});

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  window.localStorage.clear();
  for (const reset of resets) reset();
});
