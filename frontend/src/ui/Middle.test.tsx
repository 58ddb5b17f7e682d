import { cleanup, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Middle } from "./Middle";

/** Pieces that are drawn of a name in a button, which is found by its whole name. */
function piecesOf(name: string): readonly (string | null)[] {
  render(
    <button type="button">
      <Middle text={name} />
    </button>,
  );
  const pieces = screen.getByRole("button", { name }).querySelectorAll("[aria-hidden]");
  cleanup();
  return Array.from(pieces, ({ textContent }) => textContent);
}

it("cuts long names before their last word, and is one word for screen readers", () => {
  expect(piecesOf("worker-12")).toEqual([]);
  expect(piecesOf("http-nio-8080-exec-12")).toEqual(["http-nio-8080-exec", "-12"]);
  expect(piecesOf("postgres: client backend")).toEqual(["postgres: client", " backend"]);
  expect(piecesOf("VirtualThreadUnparker")).toEqual(["VirtualThreadUn", "parker"]);
});
