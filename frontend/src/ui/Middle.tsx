import styles from "./Middle.module.css";

/** The last word of a name with what separates it, up to 10 letters: it is never cut. */
const LAST_WORD = /[\s\-_./:#][^\s\-_./:#]{1,9}$/u;
/** Letters that are never cut at the end of a name whose last word is longer. */
const TAIL = 6;
/** Names up to this length are one piece. */
const SHORT = 12;

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
  const tail = [...(LAST_WORD.exec(text)?.[0] ?? letters.slice(-TAIL))].length;
  return (
    <span className={styles.middle}>
      {/* Pieces of a flex box would be separate words of an accessible name. */}
      <span className="visually-hidden">{text}</span>
      <span className={styles.head} aria-hidden="true">
        {letters.slice(0, -tail).join("")}
      </span>
      <span className={styles.tail} aria-hidden="true">
        {letters.slice(-tail).join("")}
      </span>
    </span>
  );
}
