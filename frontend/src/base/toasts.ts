/** Short notices that come up over any page and go by themselves. */

import { createStore } from "./store";

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** Something to press, such as Undo. */
  readonly action: { readonly label: string; readonly run: () => void } | null;
  readonly kind: "info" | "error";
}

export const toasts = createStore<readonly Toast[]>([]);

const MOST = 4;
let next = 0;

/** Show a notice; one that says the same already makes way for it. */
export function toast(
  text: string,
  action: Toast["action"] = null,
  kind: Toast["kind"] = "info",
): void {
  const others = toasts.get().filter((each) => each.text !== text);
  toasts.set([...others, { id: next++, text, action, kind }].slice(-MOST));
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((each) => each.id !== id));
}
