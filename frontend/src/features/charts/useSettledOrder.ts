import { type RefObject, useLayoutEffect, useRef } from "react";
import { useMedia } from "../../base/useStore";

/** Minimum time between reorderings of entries, in ms. */
const SETTLED_MS = 5000;
/** Maximum time for a requested order to arrive, in ms. */
const ASKED_MS = 1500;
const MOVE_MS = 250;

/** An order, its start, and the last request. */
interface Kept {
  readonly keys: readonly string[];
  readonly at_ms: number;
  readonly asked: string;
  readonly asked_ms: number;
}

/**
 * Entries in an order that seldom changes; new ones are appended until the next reordering.
 * @param ranked Entries in the preferred order.
 * @param asked Changes when the user requests another order, which takes effect at once.
 */
export function useSettledOrder<T>(
  ranked: readonly T[],
  keyOf: (each: T) => string,
  asked: string,
): readonly T[] {
  const kept = useRef<Kept>({ keys: [], at_ms: 0, asked, asked_ms: Number.NEGATIVE_INFINITY });
  const wanted = ranked.map(keyOf);
  const now_ms = performance.now();
  const before =
    kept.current.asked === asked ? kept.current : { ...kept.current, asked, asked_ms: now_ms };
  const free = before.keys.length === 0 || now_ms - before.asked_ms < ASKED_MS;
  if (free || now_ms - before.at_ms >= SETTLED_MS) {
    const same = wanted.join("\n") === before.keys.join("\n");
    kept.current = { ...before, keys: wanted, at_ms: same ? before.at_ms : now_ms };
    return ranked;
  }
  const stay = before.keys.filter((key) => wanted.includes(key));
  const keys = [...stay, ...wanted.filter((key) => !stay.includes(key))];
  kept.current = { ...before, keys };
  const places = new Map(keys.map((key, place) => [key, place]));
  const placeOf = (each: T) => places.get(keyOf(each)) ?? 0;
  return ranked.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Animate entries of a list to their new places, unless reduced motion is preferred. */
export function useGlide(list: RefObject<HTMLElement | null>, order: string): void {
  const still = useMedia("(prefers-reduced-motion: reduce)");
  const measured = useRef({ order: "", tops: new Map<string, number>() });
  useLayoutEffect(() => {
    // Places change only with the order.
    if (measured.current.order === order) return;
    const before = measured.current.tops;
    const now = new Map<string, number>();
    for (const entry of list.current?.querySelectorAll<HTMLElement>("[data-entry]") ?? []) {
      const key = entry.dataset.entry ?? "";
      const top = entry.offsetTop;
      now.set(key, top);
      const moved = (before.get(key) ?? top) - top;
      if (moved === 0 || still || entry.animate === undefined) continue;
      const from = { transform: `translateY(${moved}px)` };
      entry.animate([from, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
    }
    measured.current = { order, tops: now };
  }, [list, order, still]);
}
