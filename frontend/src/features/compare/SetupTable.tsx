import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import { StatusIcon } from "../../ui/StatusIcon";
import type { Comparison } from "../../wire/generated/models";
import styles from "./ComparePage.module.css";
import { RunSample } from "./RunSample";

/** What differs between the runs besides the measurements, the most important first. */
export function SetupTable({ comparison }: { readonly comparison: Comparison }) {
  const { setup, runs } = comparison;
  const colours = CHART_THEMES[useStore(theme)];
  return (
    <section className={styles.panel} aria-label="Setup">
      <header className={styles.panelHead}>
        <h2>Setup</h2>
        <span className={styles.hint}>What differs between the runs besides the figures.</span>
      </header>
      {setup.length === 0 ? (
        <p className={styles.none}>
          <span className={styles.run}>
            <StatusIcon status="ok" /> No known differences: same host, kernel, command and policy.
          </span>
        </p>
      ) : (
        <div className={styles.scroll}>
          <table className={styles.table}>
            <thead>
              <tr>
                <td />
                {runs.map(({ run, name }, index) => (
                  <th key={run} scope="col">
                    <span className={styles.run}>
                      <RunSample index={index} theme={colours} /> {name}
                    </span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {setup.map(({ what, values }) => (
                <tr key={what}>
                  <th scope="row">{what}</th>
                  {values.map((value, index) => (
                    <td key={runs[index]?.run ?? index} className={styles.value}>
                      {value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
