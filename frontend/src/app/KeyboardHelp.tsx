import { KEY_HELP } from "../base/keyboard";
import { Dialog } from "../ui/Dialog";
import styles from "./KeyboardHelp.module.css";

/** What the keys do. */
export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className={styles.keys}>
        {KEY_HELP.map(([keys, does]) => (
          <div key={does} className={styles.line}>
            <dt className={styles.press}>
              {keys.map((key) => (
                <kbd key={key} className={styles.key}>
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
