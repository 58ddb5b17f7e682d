/**
 * Keep rows where they are: those of `before` in their old places, new ones behind them.
 *
 * A list that sorts itself must not move under the pointer.
 *
 * @param before keys in the order that was shown; null lets the rows stand as they come.
 */
export function heldOrder<T>(
  before: readonly string[] | null,
  rows: readonly T[],
  keyOf: (row: T) => string,
): readonly T[] {
  if (before === null) {
    return rows;
  }
  const place = new Map(before.map((key, index) => [key, index]));
  const rank = (row: T) => place.get(keyOf(row)) ?? before.length;
  // Array.sort is stable: rows that are new stay in the order they came in.
  return [...rows].sort((a, b) => rank(a) - rank(b));
}
