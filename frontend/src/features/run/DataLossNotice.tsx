import { childrenText, dataLossTexts, missingText } from "../../stream/dataLossText";
import { counted } from "../../stream/format";
import { Notice } from "../../ui/Notice";
import { StatusIcon } from "../../ui/StatusIcon";
import type { RunManifest } from "../../wire/generated/models";
import styles from "./DataLossNotice.module.css";

/** What is missing in a run, how much of it first; and why it was cut short, if it was. */
export function DataLossNotice({ run }: { readonly run: RunManifest }) {
  const texts = dataLossTexts(run.losses);
  const children = childrenText(run.outcome?.children_cpu_us);
  return (
    <>
      {children === null ? null : (
        <Notice status="warning" title="Child processes are missing">
          {children}
        </Notice>
      )}
      {run.state === "interrupted" ? (
        <Notice status="warning" title="Recording was interrupted">
          {run.end_detail === "" ? "Data up to that point is available." : run.end_detail}
        </Notice>
      ) : null}
      {run.state === "incomplete" ? (
        <Notice status="warning" title="This run is incomplete">
          {run.end_detail === "" ? `${missingText(run.losses)}.` : run.end_detail}
        </Notice>
      ) : null}
      {texts.length === 0 ? null : (
        <details className={`surface ${styles.losses}`}>
          <summary>
            <StatusIcon status="warning" />{" "}
            {texts.length === 1 ? texts[0] : counted(texts.length, "warning")}
          </summary>
          {texts.length === 1 ? null : (
            <ul>
              {texts.map((word) => (
                <li key={word}>{word}</li>
              ))}
            </ul>
          )}
        </details>
      )}
    </>
  );
}
