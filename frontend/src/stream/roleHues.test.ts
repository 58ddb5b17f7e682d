import { expect, it } from "vitest";
import { HUES, LineOrder, RoleHues } from "./roleHues";

const NAMES = Array.from({ length: 60 }, (_, n) => `role ${n}`);

it("gives the first seven roles a hue each, and none the grey of what is left over", () => {
  const hues = new RoleHues();
  const places = NAMES.map((name) => hues.of(name));
  expect(new Set(places.slice(0, HUES).map((place) => place % 8)).size).toBe(HUES);
  expect(places.filter((place) => place % 8 === 7)).toEqual([]);
  // With markers there are forty styles, without the grey ones.
  expect(new Set(places).size).toBe(35);
  expect(NAMES.map((name) => hues.of(name))).toEqual(places);
});

it("gives the next seven roles a hue each again", () => {
  const hues = new RoleHues();
  const places = NAMES.slice(0, 2 * HUES).map((name) => hues.of(name));
  expect(new Set(places.slice(HUES).map((place) => place % 8)).size).toBe(HUES);
  expect(new Set(places).size).toBe(2 * HUES);
});

it("gives a role the same colour whatever came before, where nobody has it", () => {
  const alone = NAMES.map((name) => new RoleHues().of(name));
  const second = NAMES.slice(1).map((name, at) => {
    const hues = new RoleHues();
    hues.of(NAMES[at] ?? "");
    return hues.of(name);
  });
  const kept = second.filter((place, at) => place === alone[at + 1]);
  expect(kept.length).toBeGreaterThan(40);
});

const keyed = (text: string) => [...text].map((key) => ({ key }));

it("changes places every five seconds at most; new lines come last until then", () => {
  const order = new LineOrder();
  const at = (clock_ms: number, ranked: string) =>
    order
      .of(keyed(ranked), clock_ms)
      .map(({ key }) => key)
      .join("");
  expect(at(0, "abc")).toBe("abc");
  expect(at(4000, "bac")).toBe("abc");
  expect(at(4500, "dba")).toBe("abd");
  expect(at(5000, "dba")).toBe("dba");
  expect(at(9000, "abd")).toBe("dba");
  order.release();
  expect(at(9001, "abd")).toBe("abd");
});
