import { useStore } from "../../base/useStore";
import { formatDuration } from "../../stream/format";
import { Button } from "../../ui/Button";
import styles from "./ChangePanel.module.css";
import { changeOpen } from "./changeOpen";

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
