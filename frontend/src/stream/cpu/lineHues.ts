/** Colours of threads that must be kept apart: a hue each, for as long as the thread has a line. */

import { HUES } from "../roleHues";
import { SHADES } from "../threads";
import type { ThreadKey } from "../viewRequest";

export class LineHues {
  private readonly held = new Map<ThreadKey, number>();

  /**
   * Colours (see `threadColour`) of these threads; as long as there are no more of them than hues no
   * two have the same. A thread keeps its own hue if nobody has it.
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

/** Lines change places at most this often. */
const SETTLED_MS = 5000;

export class LineOrder {
  private keys: readonly string[] = [];
  private at_ms = Number.NEGATIVE_INFINITY;

  /** Take the next order as it is: somebody asked for another. */
  release(): void {
    this.at_ms = Number.NEGATIVE_INFINITY;
  }

  /**
   * Lines in the order that is kept; new ones come last, until the order is made again.
   *
   * @param ranked Lines as they should stand.
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
