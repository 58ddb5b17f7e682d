import { createStore } from "../../base/store";
import { useStore } from "../../base/useStore";
import { windowClient } from "../../chart/zoom";
import { formatDuration } from "../../stream/format";
import { Button } from "../../ui/Button";
import styles from "./ChangePanel.module.css";

/** Opens what changed between the window in view and the time before it, or closes it. */
export function CompareBefore({ seconds }: { readonly seconds: number }) {
  const open = useStore(changeOpen);
  return (
    <Button
      className={styles.compare}
      aria-pressed={open}
      aria-keyshortcuts="b"
      title="What changed, by role and reason (b)"
      onClick={() => changeOpen.set(!open)}
    >
      Compare with the {wordsOf(seconds)} before
    </Button>
  );
}

/** "1 min" and not "1 min 00 s": these windows are chosen by minutes. */
function wordsOf(seconds: number): string {
  return formatDuration(seconds).replace(/ 00 (s|min)$/, "");
}

/** Whether the panel of what changed against the time before is open. */
export const changeOpen = createStore(false);

/** Open or close it, where there are charts. */
export function compareBefore(): void {
  if (windowClient.get() !== null) changeOpen.set(!changeOpen.get());
}
