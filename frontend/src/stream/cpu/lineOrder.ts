/** An order of lines that people can follow: it changes seldom. */

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
