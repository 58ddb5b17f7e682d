import { describe, expect, it } from "vitest";
import { arrange, arrangementText, changed, fullWidths, movedBeside, movedBy } from "./arrangement";

const DEFAULTS = ["map", "cpu", "times", "network", "disk", "threads"];
const ids = (text: string) => arrange(DEFAULTS, text).map(({ id }) => id);

describe("an arrangement", () => {
  it("is the default without a text, and has none then", () => {
    expect(ids("")).toEqual(DEFAULTS);
    expect(arrangementText(DEFAULTS, arrange(DEFAULTS, ""))).toBe("");
  });

  it.each(["network*", "cpu-", "map.cpu*-.times", "threads.map.cpu.times.network-.disk"])(
    "is what its text says: %s",
    (text) => {
      const placed = arrange(DEFAULTS, text);
      expect(arrange(DEFAULTS, arrangementText(DEFAULTS, placed))).toEqual(placed);
      expect(placed).toHaveLength(DEFAULTS.length);
    },
  );

  it("names what differs only, as long as the order is the default one", () => {
    const placed = changed(arrange(DEFAULTS, ""), "network", { large: true });
    expect(arrangementText(DEFAULTS, placed)).toBe("network*");
  });

  it("puts panels that it does not name behind the ones that they follow by default", () => {
    expect(ids("threads.cpu")).toEqual(["map", "threads", "cpu", "times", "network", "disk"]);
  });

  it("takes no harm from what is not of it", () => {
    expect(ids("disk.disk.<b>.nothing.cpu**.-")).toEqual(ids("disk"));
  });
});

describe("a panel that is moved", () => {
  const defaults = arrange(DEFAULTS, "");
  const order = (placed: typeof defaults) => placed.map(({ id }) => id).join(" ");

  it("passes the neighbour that is shown", () => {
    const shown = ["map", "cpu", "disk", "threads"];
    expect(order(movedBy(defaults, shown, "disk", -1))).toBe("map disk cpu times network threads");
    expect(order(movedBy(defaults, shown, "cpu", 1))).toBe("map times network disk cpu threads");
    expect(movedBy(defaults, shown, "map", -1)).toBe(defaults);
    expect(movedBy(defaults, shown, "threads", 1)).toBe(defaults);
  });

  it("goes to either side of another", () => {
    expect(order(movedBeside(defaults, "map", "times", "behind"))).toBe(
      "cpu times map network disk threads",
    );
    expect(order(movedBeside(defaults, "threads", "map", "before"))).toBe(
      "threads map cpu times network disk",
    );
    expect(movedBeside(defaults, "map", "map", "behind")).toBe(defaults);
  });
});

it("leaves no hole beside a panel", () => {
  const half = { wide: false, folded: false, large: false };
  const wide = { ...half, wide: true };
  const folded = { ...wide, folded: true };
  const large = { ...half, large: true };
  expect(fullWidths([wide, half, half, half, wide])).toEqual([true, false, false, true, true]);
  expect(fullWidths([half, large, half, half])).toEqual([true, true, false, false]);
  expect(fullWidths([half, folded, folded, half])).toEqual([true, false, false, true]);
});
