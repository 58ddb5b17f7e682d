import styles from "./ColourKeys.module.css";

/** A background colour and its meaning. */
export interface ColourKey {
  readonly ground: string;
  readonly text: string;
}

interface ColourKeysProps {
  readonly label: string;
  readonly keys: readonly ColourKey[];
}

/** The legend of background colours. */
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
