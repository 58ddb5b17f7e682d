import { Notice } from "../../ui/Notice";
import { StatusIcon } from "../../ui/StatusIcon";
import type { RunManifest } from "../../wire/generated/models";
import styles from "./DataLossNotice.module.css";
import { dataLossTexts } from "./dataLossText";

/** What is missing in a run, said calmly; and why it was cut short, if it was. */
export function DataLossNotice({ run }: { readonly run: RunManifest }) {
  const words = dataLossTexts(run.losses);
  return (
    <>
      {run.state === "interrupted" ? (
        <Notice status="warning" title="It was cut short">
          {run.end_detail === "" ? "What was written until then is here." : run.end_detail}
        </Notice>
      ) : null}
      {words.length === 0 ? null : (
        <details className={`surface ${styles.losses}`}>
          <summary>
            <StatusIcon status="warning" />{" "}
            {words.length === 1 ? words[0] : `${words.length} remarks on the data`}
          </summary>
          {words.length === 1 ? null : (
            <ul>
              {words.map((word) => (
                <li key={word}>{word}</li>
              ))}
            </ul>
          )}
        </details>
      )}
    </>
  );
}
