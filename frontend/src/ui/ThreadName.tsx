import styles from "./ThreadName.module.css";

/** As much of the end of a name stays: numbers tell threads of a role apart. */
const TAIL = 4;

interface ThreadNameProps {
  readonly name: string;
  /** Shown after the name, never cut; null: not shown. */
  readonly tid: number | null;
}

/** The name of a thread; where there is no room the middle of the name gives way. */
export function ThreadName({ name, tid }: ThreadNameProps) {
  const cut = Math.max(0, name.length - TAIL);
  return (
    <span className={styles.thread}>
      <span className={styles.head}>{name.slice(0, cut)}</span>
      <span className={styles.tail}>{name.slice(cut)}</span>
      {tid === null ? null : <span className={styles.tid}>{` ${tid}`}</span>}
    </span>
  );
}
