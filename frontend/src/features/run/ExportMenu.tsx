import { useState } from "react";
import { asProblem } from "../../api/problem";
import { EXPORTS, type ExportFormat, exportHref } from "../../api/runs";
import { withTicket } from "../../api/session";
import { ProblemNotice } from "../../ui/Notices";
import { Popover } from "../../ui/Overlays";
import type { Problem } from "../../wire/generated/models";
import styles from "./RunPage.module.css";

const FORMS: Readonly<Record<ExportFormat, readonly [name: string, what: string]>> = {
  folder: ["Folder (.tar.zst)", "Complete run; opens in another tidscope"],
  parquet: ["Parquet", "Tables for DuckDB, Polars, pandas"],
  csv: ["CSV", "Tables as text"],
  trace: ["Trace (Chrome, Perfetto)", "Opens at ui.perfetto.dev"],
  "pools-parquet": ["Pools (Parquet)", "Pools of workers, a row each second"],
  "pools-csv": ["Pools (CSV)", "The same as text"],
};

/** Menu for exporting a run as a file, in one of several formats. */
export function ExportMenu({ run }: { readonly run: string }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (format: ExportFormat) => {
    setProblem(null);
    try {
      await download(exportHref(run, format));
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <Popover label="Export" face="Export ▾">
      <ul className={styles.forms}>
        {EXPORTS.map((format) => (
          <li key={format}>
            <button type="button" className={styles.form} onClick={() => void save(format)}>
              {FORMS[format][0]}
            </button>
            <p className={styles.what}>{FORMS[format][1]}</p>
          </li>
        ))}
      </ul>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </Popover>
  );
}

/** Download by a link: only then the browser streams the answer to disk. */
async function download(href: string): Promise<void> {
  const link = document.createElement("a");
  link.href = await withTicket(href);
  link.download = "";
  link.click();
}
