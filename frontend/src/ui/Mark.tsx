import styles from "./Mark.module.css";

/** good: a tick; fair: a triangle; bad: a cross; plain: an i; unknown: a question mark. */
export type MarkKind = "good" | "fair" | "bad" | "plain" | "unknown";

const SHAPES: Readonly<Record<MarkKind, string>> = {
  good: "M3.5 8.5l3 3 6-7",
  fair: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.6v.4",
  bad: "M4 4l8 8M12 4l-8 8",
  plain: "M8 1.8a6.2 6.2 0 1 1 0 12.4 6.2 6.2 0 0 1 0-12.4M8 7.2v4M8 4.6v.6",
  unknown: "M5.4 6a2.6 2.6 0 1 1 3.8 2.3c-.8.4-1.2.9-1.2 1.9M8 12.4v.5",
};

/** A sign whose shape says the state, so that colour need not. The word stands beside it. */
export function Mark({ kind }: { readonly kind: MarkKind }) {
  return (
    <svg className={`${styles.mark} ${styles[kind]}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[kind]} />
    </svg>
  );
}
