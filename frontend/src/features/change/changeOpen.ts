import { createStore } from "../../base/store";
import { windowClient } from "../../chart/windowKeys";

/** Whether the panel of what changed against the time before is open. */
export const changeOpen = createStore(false);

/** Open or close it, where there are charts. */
export function compareBefore(): void {
  if (windowClient.get() !== null) changeOpen.set(!changeOpen.get());
}
