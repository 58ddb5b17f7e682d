/**
 * Palette indices by name, so that a role keeps its colour across runs of a program. Order of
 * arrival matters only if two names compete for a hue.
 */

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
