import { EXPORTS, type ExportFormat, exportHref } from "../../api/runs";
import { Popover } from "../../ui/Popover";
import styles from "./ExportMenu.module.css";

const FORMS: Readonly<Record<ExportFormat, readonly [name: string, what: string]>> = {
  folder: ["Folder (.tar.zst)", "Complete run; opens in another tidscope"],
  parquet: ["Parquet", "Tables for DuckDB, Polars, pandas"],
  csv: ["CSV", "Tables as text"],
  trace: ["Trace (Chrome, Perfetto)", "Opens at ui.perfetto.dev"],
};

/** A run as a file, in one of four forms. */
export function ExportMenu({ run }: { readonly run: string }) {
  return (
    <Popover label="Export" face="Export ▾">
      <ul className={styles.forms}>
        {EXPORTS.map((format) => (
          <li key={format}>
            <a className={styles.form} href={exportHref(run, format)} download>
              {FORMS[format][0]}
            </a>
            <p className={styles.what}>{FORMS[format][1]}</p>
          </li>
        ))}
      </ul>
    </Popover>
  );
}
