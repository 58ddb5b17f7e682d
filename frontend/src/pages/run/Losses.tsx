import { Mark } from "../../ui/Mark";
import { Notice } from "../../ui/Notice";
import type { RunManifest } from "../../wire/generated/models";
import styles from "./Losses.module.css";
import { lossWords } from "./lossWords";

/** What is missing in a run, said calmly; and why it was cut short, if it was. */
export function Losses({ run }: { readonly run: RunManifest }) {
  const words = lossWords(run.losses);
  return (
    <>
      {run.state === "interrupted" ? (
        <Notice kind="fair" title="It was cut short">
          {run.end_detail === "" ? "What was written until then is here." : run.end_detail}
        </Notice>
      ) : null}
      {words.length === 0 ? null : (
        <details className={styles.losses}>
          <summary>
            <Mark kind="fair" />{" "}
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
