import { describe, expect, it } from "vitest";
import { tokenIn } from "./session";

describe("tokenIn", () => {
  it.each([
    ["http://127.0.0.1:8787/#token=abc-DEF_1", "abc-DEF_1"],
    ["  http://127.0.0.1:8787/?pid=7#token=abc ", "abc"],
    ["http://127.0.0.1:8787/#token=a%2Bb", "a+b"],
    ["token=abc", "abc"],
    ["abc", "abc"],
    ["http://127.0.0.1:8787/", ""],
    ["", ""],
  ])("%s", (pasted, token) => {
    expect(tokenIn(pasted)).toBe(token);
  });
});
