import styles from "./ArrangedPanels.module.css";

/** Something that this target does not have. */
export interface AbsentPanel {
  readonly id: string;
  readonly title: string;
  /** Why, and what would bring it. */
  readonly reason: string;
}

/** One line of what is not available; it opens to why, and what would bring them. */
export function AbsentPanels({ panels }: { readonly panels: readonly AbsentPanel[] }) {
  if (panels.length === 0) return null;
  return (
    <details className={styles.absent}>
      <summary>
        Not available here: <span>{panels.map(({ title }) => title).join(", ")}</span>
      </summary>
      <dl>
        {panels.map(({ id, title, reason }) => (
          <div key={id} data-absent={id}>
            <dt>{title}</dt>
            <dd>{reason}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
