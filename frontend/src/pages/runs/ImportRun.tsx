import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { asProblem } from "../../api/problem";
import { importRun } from "../../api/runs";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { toast } from "../../base/toasts";
import { Notice } from "../../ui/Notice";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { Problem } from "../../wire/generated/models";
import styles from "./ImportRun.module.css";

interface ImportRunProps {
  readonly locked: boolean;
  readonly onDone: () => void;
  /** Given what opens the file chooser. */
  readonly children: (open: () => void) => ReactNode;
}

/** Brings runs in that were exported as folders: by file chooser, or dropped anywhere on the page. */
export function ImportRun({ locked, onDone, children }: ImportRunProps) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);

  const bring = async (files: readonly File[]) => {
    setProblem(null);
    for (const file of files) {
      setBusy(file.name);
      try {
        const run = await importRun(file);
        toast(`Imported ${run.name}.`, { label: "Open", run: () => navigate(runHref(run.id)) });
      } catch (error) {
        setProblem(asProblem(error));
      }
    }
    setBusy("");
    onDone();
  };
  const holdsFiles = (event: DragEvent) => !locked && event.dataTransfer.types.includes("Files");
  return (
    <section
      aria-label="Runs"
      className={styles.drop}
      data-over={over}
      onDragOver={(event) => {
        if (holdsFiles(event)) {
          event.preventDefault();
          setOver(true);
        }
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        if (holdsFiles(event)) {
          event.preventDefault();
          void bring([...event.dataTransfer.files]);
        }
      }}
    >
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept=".zst,.tar.zst,application/zstd"
        aria-label="Run to import"
        onChange={(event) => {
          void bring([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {busy === "" ? null : <Notice status="info" title={`Importing ${busy}…`} />}
      {over ? <p className={styles.hint}>Drop a run (.tar.zst) to import it</p> : null}
      {children(() => input.current?.click())}
    </section>
  );
}
