/** Order of panels, and the folded and large ones. Pure. */

export interface Placed {
  readonly id: string;
  readonly folded: boolean;
  readonly large: boolean;
}

const MARKED = /^([a-z_]+)(\*?)(-?)$/;

/**
 * Parse an arrangement: IDs in order, joined by dots; suffix `*` means large, `-` folded. Unnamed
 * panels follow their default predecessor.
 * @param defaults All panels in default order.
 */
export function arrange(defaults: readonly string[], text: string): readonly Placed[] {
  const placed: Placed[] = [];
  const isPlaced = (id: string) => placed.some((each) => each.id === id);
  for (const part of text.split(".")) {
    const [, id = "", large, folded] = MARKED.exec(part) ?? [];
    if (!defaults.includes(id) || isPlaced(id)) continue;
    placed.push({ id, large: large === "*", folded: folded === "-" });
  }
  defaults.forEach((id, at) => {
    if (isPlaced(id)) return;
    const place = placed.findIndex((each) => each.id === defaults[at - 1]) + 1;
    placed.splice(place, 0, { id, folded: false, large: false });
  });
  return placed;
}

/** The text of an arrangement; "" for the default. */
export function arrangementText(defaults: readonly string[], placed: readonly Placed[]): string {
  const inOrder = placed.every(({ id }, at) => id === defaults[at]);
  return placed
    .filter(({ folded, large }) => !inOrder || folded || large)
    .map(({ id, folded, large }) => `${id}${large ? "*" : ""}${folded ? "-" : ""}`)
    .join(".");
}

/** Fold, unfold, enlarge or shrink a panel. */
export function changed(
  placed: readonly Placed[],
  id: string,
  part: Partial<Omit<Placed, "id">>,
): readonly Placed[] {
  return placed.map((each) => (each.id === id ? { ...each, ...part } : each));
}

/** Put a panel directly before or after another. */
export function movedBeside(
  placed: readonly Placed[],
  id: string,
  other: string,
  side: "before" | "behind",
): readonly Placed[] {
  const panel = placed.find((each) => each.id === id);
  if (!panel || id === other) return placed;
  const rest = placed.filter((each) => each.id !== id);
  const place = rest.findIndex((each) => each.id === other);
  return place < 0 ? placed : rest.toSpliced(place + (side === "behind" ? 1 : 0), 0, panel);
}

/**
 * Move a panel past its neighbour.
 * @param shown IDs of this page's panels.
 */
export function movedBy(
  placed: readonly Placed[],
  shown: readonly string[],
  id: string,
  by: -1 | 1,
): readonly Placed[] {
  const order = placed.map((each) => each.id).filter((each) => shown.includes(each));
  const at = order.indexOf(id);
  const neighbour = at < 0 ? undefined : order[at + by];
  if (neighbour === undefined) return placed;
  return movedBeside(placed, id, neighbour, by < 0 ? "before" : "behind");
}

/** Properties that determine the width of a panel. */
export interface Sized {
  readonly wide: boolean;
  readonly folded: boolean;
  readonly large: boolean;
}

/** Panels that span both columns: wide ones, and those without a neighbour of equal height. */
export function fullWidths(panels: readonly Sized[]): readonly boolean[] {
  const kindOf = ({ wide, folded, large }: Sized) =>
    folded ? "folded" : wide || large ? "full" : "half";
  const full: boolean[] = [];
  while (full.length < panels.length) {
    const [panel, next] = panels.slice(full.length);
    if (!panel) break;
    const kind = kindOf(panel);
    if (kind !== "full" && next && kindOf(next) === kind) full.push(false, false);
    else full.push(true);
  }
  return full;
}
