import { describe, expect, it } from "vitest";
import { KEYS_AT_REST, type KeyPress, moveInRows, pressKey } from "./keyboard";

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  modified: false,
  typing: false,
  pressable: false,
  time_ms: 0,
  ...more,
});

describe("pressKey", () => {
  it.each([
    ["/", "search"],
    ["?", "help"],
    [" ", "pause"],
    ["s", "steer"],
    ["Escape", "escape"],
    ["[", "window-earlier"],
    ["]", "window-later"],
    ["+", "window-shorter"],
    ["-", "window-longer"],
    ["0", "window-back"],
    ["b", "compare-before"],
    ["x", null],
  ])("%s", (key, command) => {
    expect(pressKey(KEYS_AT_REST, press(key))).toEqual({ state: KEYS_AT_REST, command });
  });

  it.each([
    ["l", "go-live"],
    ["r", "go-runs"],
    ["c", "go-compare"],
    ["d", "go-doctor"],
    ["x", null],
  ])("g %s", (key, command) => {
    const first = pressKey(KEYS_AT_REST, press("g", { time_ms: 100 }));
    expect(first.command).toBeNull();
    const second = pressKey(first.state, press(key, { time_ms: 1600 }));
    expect(second).toEqual({ state: KEYS_AT_REST, command });
  });

  it("forgets a g that is too old", () => {
    const first = pressKey(KEYS_AT_REST, press("g", { time_ms: 100 }));
    expect(pressKey(first.state, press("l", { time_ms: 1601 })).command).toBeNull();
  });

  it("leaves typing alone, but for Escape", () => {
    expect(pressKey(KEYS_AT_REST, press("/", { typing: true })).command).toBeNull();
    expect(pressKey(KEYS_AT_REST, press("Escape", { typing: true })).command).toBe("escape");
  });

  it("leaves the browser's own keys alone", () => {
    expect(pressKey(KEYS_AT_REST, press("/", { modified: true })).command).toBeNull();
  });

  it("lets the space bar press a button", () => {
    expect(pressKey(KEYS_AT_REST, press(" ", { pressable: true })).command).toBeNull();
  });
});

describe("moveInRows", () => {
  it.each([
    ["ArrowDown", 3, 4],
    ["ArrowDown", 9, 9],
    ["ArrowUp", 0, 0],
    ["PageDown", 3, 8],
    ["PageUp", 3, 0],
    ["Home", 7, 0],
    ["End", 0, 9],
  ])("%s from %i", (key, from, to) => {
    expect(moveInRows(key, from, 10, 5)).toBe(to);
  });

  it("does not move on other keys or in an empty list", () => {
    expect(moveInRows("a", 0, 10, 5)).toBeNull();
    expect(moveInRows("End", 0, 0, 5)).toBeNull();
  });
});
