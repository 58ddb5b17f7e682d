import styles from "./Middle.module.css";

/** Letters at the end of a name that are never cut. */
const TAIL = 6;
/** Names up to this length are one piece. */
const SHORT = 2 * TAIL;

interface MiddleProps {
  readonly text: string;
}

/**
 * A name that is cut in its middle where it lacks room: names of threads and roles often differ at
 * their ends ("http-nio-8080-exec-12").
 */
export function Middle({ text }: MiddleProps) {
  const letters = [...text];
  if (letters.length <= SHORT) return text;
  return (
    <span className={styles.middle}>
      {/* Pieces of a flex box would be separate words of an accessible name. */}
      <span className="visually-hidden">{text}</span>
      <span className={styles.head} aria-hidden="true">
        {letters.slice(0, -TAIL).join("")}
      </span>
      <span className={styles.tail} aria-hidden="true">
        {letters.slice(-TAIL).join("")}
      </span>
    </span>
  );
}
