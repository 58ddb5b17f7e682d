import { type ReactNode, useState } from "react";
import { asProblem } from "../../api/problem";
import { importRun } from "../../api/runs";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { toast } from "../../base/toasts";
import { FileDrop } from "../../ui/FileDrop";
import { Notice } from "../../ui/Notice";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { Problem } from "../../wire/generated/models";

interface ImportRunProps {
  readonly locked: boolean;
  readonly onDone: () => void;
  /** Given what opens the file chooser. */
  readonly children: (open: () => void) => ReactNode;
}

/** Brings runs in that were exported as folders. */
export function ImportRun({ locked, onDone, children }: ImportRunProps) {
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
  return (
    <FileDrop
      label="Runs"
      choose="Run to import"
      accept=".zst,.tar.zst,application/zstd"
      hint="Drop a run (.tar.zst) to import it"
      locked={locked}
      onFiles={(files) => void bring(files)}
    >
      {(open) => (
        <>
          {problem === null ? null : <ProblemNotice problem={problem} />}
          {busy === "" ? null : <Notice status="info" title={`Importing ${busy}…`} />}
          {children(open)}
        </>
      )}
    </FileDrop>
  );
}
