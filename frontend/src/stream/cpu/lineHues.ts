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
