import { createStore } from "../../base/store";
import { useStore } from "../../base/useStore";
import { windowClient } from "../../chart/zoom";
import { formatDuration } from "../../stream/format";
import { Button } from "../../ui/Controls";
import styles from "./ChangePanel.module.css";

/** Toggle button for the comparison of the visible window with the time before. */
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

/** "1 min" instead of "1 min 00 s": these windows are chosen by minutes. */
function wordsOf(seconds: number): string {
  return formatDuration(seconds).replace(/ 00 (s|min)$/, "");
}

/** Whether the panel of changes is open. */
export const changeOpen = createStore(false);

/** Toggle the panel of changes, if the page has charts. */
export function compareBefore(): void {
  if (windowClient.get() !== null) changeOpen.set(!changeOpen.get());
}
