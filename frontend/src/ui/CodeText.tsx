import { createElement, Fragment } from "react";

/** A sentence in which commands stand between backticks, as terminals show them. */
export function CodeText({ text }: { readonly text: string }) {
  const parts = text.split("`");
  // Every second part stood between two of them.
  const shown = parts.map((part, n) => (n % 2 === 1 ? createElement("code", null, part) : part));
  return createElement(Fragment, null, ...shown);
}
