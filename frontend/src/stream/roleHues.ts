/**
 * Palette indices by name, so that a role keeps its colour across runs of a program. Order of
 * arrival matters only if two names compete for a hue. Colours of threads that must stay distinct:
 * each keeps a hue while the thread has a line.
 */

import type { ThreadKey } from "./viewRequest";

/** Number of shades of a role's hue, for its threads. */
export const SHADES = 3;

/** Number of distinct hues; an eighth is the grey of the remainder. */
export const HUES = 7;
/** Number of styles: hues with markers (chart/palette.ts). */
const PROBES = 40;

export class RoleHues {
  private readonly places = new Map<string, number>();
  private readonly taken = new Set<number>();

  /** Palette index of a name: a hue and a marker, by `hueStyle`. */
  of(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place = this.find(hashOf(name));
    // A program with an unbounded number of thread names (by address, say) must not exhaust memory.
    if (this.places.size < 10_000) this.places.set(name, place);
    this.taken.add(place);
    return place;
  }

  private find(hash: number): number {
    // The first seven get one hue each, the next seven another lightness; later ones repeat hues
    // with other markers.
    for (let n = 0; n < HUES; n++) {
      const place = (hash + n) % HUES;
      if (!this.taken.has(place)) return place;
    }
    for (let round = HUES + 1; round < PROBES; round += HUES + 1) {
      for (let n = 0; n < HUES; n++) {
        const place = round + ((hash + n) % HUES);
        if (!this.taken.has(place)) return place;
      }
    }
    return hash % HUES;
  }
}

/** FNV-1a (Fowler, Noll, Vo), 32 bits. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
}

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
