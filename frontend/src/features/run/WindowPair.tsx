import { useState } from "react";
import { navigate, parameter, withParameter } from "../../base/routing";
import type { Span } from "../../stream/window";
import { Button } from "../../ui/Button";
import { compareHref, EMPTY_LINK } from "../compare/link";
import { type SideWindow, sideOf, typedWindow, windowText } from "../compare/side";

interface WindowPairProps {
  readonly run: string;
  /** The whole run, and the part of it in view. */
  readonly extent: Span;
  readonly window: Span;
  readonly whole: boolean;
}

/** The parameter of the address that holds the first window. */
const FIRST = "a";
const MIN_S = 0.5;

/** Two windows of one run for Compare: the one in view becomes A, another one B. */
export function WindowPair({ run, extent, window, whole }: WindowPairProps) {
  const [first, setFirst] = useState(() => typedWindow(parameter(FIRST) ?? "") ?? null);
  const here: SideWindow = {
    from_s: window.t0_s - extent.t0_s,
    to_s: window.t1_s - extent.t0_s,
  };
  const side = sideOf(run, here);
  const choose = (next: SideWindow | null) => {
    setFirst(next);
    const text = next === null ? null : (sideOf(run, next)?.split("@")[1] ?? null);
    navigate(withParameter(FIRST, text), "replace");
  };
  if (first === null) {
    return whole ? null : (
      <Button
        title="Keep this window as A; then choose another one to compare it with"
        disabled={here.to_s - here.from_s < MIN_S}
        onClick={() => choose(here)}
      >
        Window A
      </Button>
    );
  }
  const sides = [sideOf(run, first), side].flatMap((one) => one ?? []);
  const ready = sides.length === 2 && sides[0] !== sides[1];
  return (
    <>
      <Button title="Forget window A" onClick={() => choose(null)}>
        A: {windowText(first)} ×
      </Button>
      <Button
        look="primary"
        disabled={!ready}
        title={ready ? "" : "Choose another window: drag in a chart or in the bar below"}
        onClick={() => navigate(compareHref({ ...EMPTY_LINK, groups: sides.map((one) => [one]) }))}
      >
        Compare A with this window
      </Button>
    </>
  );
}
