import styles from "./ArrangedPanels.module.css";

/** A panel that this target cannot have. */
export interface AbsentPanel {
  readonly id: string;
  readonly title: string;
  /** The reason, and the remedy. */
  readonly reason: string;
}

/** One line naming unavailable panels; opens to the reasons and remedies. */
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
