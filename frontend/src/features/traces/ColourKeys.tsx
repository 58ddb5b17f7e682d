import styles from "./TracesPage.module.css";

/** A ground, and what it stands for. */
export interface ColourKey {
  readonly ground: string;
  readonly text: string;
}

interface ColourKeysProps {
  readonly label: string;
  readonly keys: readonly ColourKey[];
}

/** The legend of grounds. */
export function ColourKeys({ label, keys }: ColourKeysProps) {
  return (
    <ul className={styles.keys} aria-label={label}>
      {keys.map(({ ground, text }) => (
        <li key={text}>
          <span className={styles.key} style={{ background: ground }} />
          {text}
        </li>
      ))}
    </ul>
  );
}
