import { describe, expect, it } from "vitest";
import { arrange, arrangementText, changed, fullWidths, movedBeside, movedBy } from "./arrangement";

const USUAL = ["map", "cpu", "times", "network", "disk", "threads"];
const ids = (text: string) => arrange(USUAL, text).map(({ id }) => id);

describe("an arrangement", () => {
  it("is as usual without a text, and has none then", () => {
    expect(ids("")).toEqual(USUAL);
    expect(arrangementText(USUAL, arrange(USUAL, ""))).toBe("");
  });

  it.each(["network*", "cpu-", "map.cpu*-.times", "threads.map.cpu.times.network-.disk"])(
    "is what its text says: %s",
    (text) => {
      const placed = arrange(USUAL, text);
      expect(arrange(USUAL, arrangementText(USUAL, placed))).toEqual(placed);
      expect(placed).toHaveLength(USUAL.length);
    },
  );

  it("names what differs only, as long as the order is the usual one", () => {
    const placed = changed(arrange(USUAL, ""), "network", { large: true });
    expect(arrangementText(USUAL, placed)).toBe("network*");
  });

  it("puts panels that it does not name behind the ones that they usually follow", () => {
    expect(ids("threads.cpu")).toEqual(["map", "threads", "cpu", "times", "network", "disk"]);
  });

  it("takes no harm from what is not of it", () => {
    expect(ids("disk.disk.<b>.nothing.cpu**.-")).toEqual(ids("disk"));
  });
});

describe("a panel that is moved", () => {
  const usual = arrange(USUAL, "");
  const order = (placed: typeof usual) => placed.map(({ id }) => id).join(" ");

  it("passes the neighbour that is shown", () => {
    const shown = ["map", "cpu", "disk", "threads"];
    expect(order(movedBy(usual, shown, "disk", -1))).toBe("map disk cpu times network threads");
    expect(order(movedBy(usual, shown, "cpu", 1))).toBe("map times network disk cpu threads");
    expect(movedBy(usual, shown, "map", -1)).toBe(usual);
    expect(movedBy(usual, shown, "threads", 1)).toBe(usual);
  });

  it("goes to either side of another", () => {
    expect(order(movedBeside(usual, "map", "times", "behind"))).toBe(
      "cpu times map network disk threads",
    );
    expect(order(movedBeside(usual, "threads", "map", "before"))).toBe(
      "threads map cpu times network disk",
    );
    expect(movedBeside(usual, "map", "map", "behind")).toBe(usual);
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
