/**
 * Places of colours by name, so that a role has its colour in each run of a program. Names come first
 * come, first served only where two of them want the same hue.
 */

/** Hues that tell things apart; the eighth is the grey of what is left over. */
export const HUES = 7;
/** Hues with markers: so many looks there are (chart/palette.ts). */
const LOOKS = 40;

export class RoleHues {
  private readonly places = new Map<string, number>();
  private readonly taken = new Set<number>();

  /** Place of a name: by `hueStyle` a hue and a marker. */
  of(name: string): number {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const place = this.find(hashOf(name));
    // A program that names threads without end (by address, say) must not fill the memory.
    if (this.places.size < 10_000) this.places.set(name, place);
    this.taken.add(place);
    return place;
  }

  private find(hash: number): number {
    // The first seven have a hue each, the next seven each in another lightness; then hues repeat
    // with other markers.
    for (let n = 0; n < HUES; n++) {
      const place = (hash + n) % HUES;
      if (!this.taken.has(place)) return place;
    }
    for (let round = HUES + 1; round < LOOKS; round += HUES + 1) {
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
