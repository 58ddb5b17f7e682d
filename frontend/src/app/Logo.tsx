import styles from "./Logo.module.css";

/** The name, with a trace on a small screen. */
export function Logo() {
  return (
    <span className={styles.logo}>
      <svg className={styles.screen} viewBox="0 0 24 18" aria-hidden="true">
        <rect x="0.75" y="0.75" width="22.5" height="16.5" rx="2.5" />
        <path d="M3.5 11.5h4l2-6 3.5 8 2.5-5 1.5 3h3.5" />
      </svg>
      <span className={styles.name}>tidscope</span>
    </span>
  );
}
