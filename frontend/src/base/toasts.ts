/** Short notices shown over any page; each disappears after a while. */

import { createStore } from "./store";

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** Optional action, such as Undo. */
  readonly action: { readonly label: string; readonly run: () => void } | null;
  readonly kind: "info" | "error";
}

export const toasts = createStore<readonly Toast[]>([]);

const MAX_TOASTS = 4;
let next = 0;

/** Show a notice; it replaces a notice with the same text. */
export function toast(
  text: string,
  action: Toast["action"] = null,
  kind: Toast["kind"] = "info",
): void {
  const others = toasts.get().filter((each) => each.text !== text);
  toasts.set([...others, { id: next++, text, action, kind }].slice(-MAX_TOASTS));
}

export function dismiss(id: number): void {
  toasts.set(toasts.get().filter((each) => each.id !== id));
}
