import styles from "./StatusIcon.module.css";

/** ok: a tick; warning: a triangle; error: a cross; info: an i; unknown: a question mark. */
export type Status = "ok" | "warning" | "error" | "info" | "unknown";

const SHAPES: Readonly<Record<Status, string>> = {
  ok: "M3.5 8.5l3 3 6-7",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.6v.4",
  error: "M4 4l8 8M12 4l-8 8",
  info: "M8 1.8a6.2 6.2 0 1 1 0 12.4 6.2 6.2 0 0 1 0-12.4M8 7.2v4M8 4.6v.6",
  unknown: "M5.4 6a2.6 2.6 0 1 1 3.8 2.3c-.8.4-1.2.9-1.2 1.9M8 12.4v.5",
};

/** An icon whose shape shows the status, so that colour is not the only cue. */
export function StatusIcon({ status }: { readonly status: Status }) {
  return (
    <svg className={`${styles.icon} ${styles[status]}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[status]} />
    </svg>
  );
}
