/** Colours of threads that must stay distinct: each keeps a hue while the thread has a line. */

import { HUES } from "../roleHues";
import { SHADES } from "../threads";
import type { ThreadKey } from "../viewRequest";

export class LineHues {
  private readonly held = new Map<ThreadKey, number>();

  /**
   * Colours (see `threadColour`) of these threads, all distinct unless threads outnumber hues. A
   * thread keeps its previous hue if free.
   */
  of(threads: readonly { readonly key: ThreadKey; readonly colour: number }[]): readonly number[] {
    const keys = new Set(threads.map(({ key }) => key));
    for (const key of this.held.keys()) if (!keys.has(key)) this.held.delete(key);
    return threads.map(({ key, colour }) => {
      const held = this.held.get(key);
      if (held !== undefined) return held;
      const taken = new Set(this.held.values());
      const own = Math.floor(colour / SHADES) % HUES;
      const free = Array.from({ length: HUES }, (_, n) => SHADES * ((own + n) % HUES));
      const next = free.find((each) => !taken.has(each)) ?? colour;
      this.held.set(key, next);
      return next;
    });
  }
}

/** Minimum time between reorderings of lines, in ms. */
const SETTLED_MS = 5000;

export class LineOrder {
  private keys: readonly string[] = [];
  private at_ms = Number.NEGATIVE_INFINITY;

  /** Accept the next order at once, because the user requested another. */
  release(): void {
    this.at_ms = Number.NEGATIVE_INFINITY;
  }

  /**
   * Return lines in the kept order; new ones come last until the next reordering.
   * @param ranked Lines in the preferred order.
   */
  of<T extends { readonly key: string }>(ranked: readonly T[], clock_ms: number): readonly T[] {
    const wanted = ranked.map(({ key }) => key);
    if (clock_ms - this.at_ms >= SETTLED_MS) {
      if (wanted.join() !== this.keys.join()) this.at_ms = clock_ms;
      this.keys = wanted;
      return ranked;
    }
    const kept = this.keys.filter((key) => wanted.includes(key));
    this.keys = [...kept, ...wanted.filter((key) => !kept.includes(key))];
    const byKey = new Map(ranked.map((each) => [each.key, each]));
    return this.keys.flatMap((key) => byKey.get(key) ?? []);
  }
}
