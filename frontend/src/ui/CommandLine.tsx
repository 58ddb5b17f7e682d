import styles from "./CommandLine.module.css";
import { CopyButton } from "./CopyButton";

/** A command to type, with a button to copy the command. */
export function CommandLine({
  command,
  what,
}: {
  readonly command: string;
  readonly what: string;
}) {
  return (
    <div className={styles.line}>
      <code className={styles.command}>{command}</code>
      <CopyButton text={command} what={what} />
    </div>
  );
}
