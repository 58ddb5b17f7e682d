import { type ReactNode, useState } from "react";
import { asProblem } from "../../api/problem";
import { importTraces } from "../../api/traces";
import { toast } from "../../base/toasts";
import { counted } from "../../stream/format";
import { FileDrop } from "../../ui/FileDrop";
import { Notice } from "../../ui/Notice";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { Problem, TracesImported } from "../../wire/generated/models";

interface ImportTracesProps {
  readonly locked: boolean;
  readonly onDone: () => void;
  /** Given what opens the file chooser. */
  readonly children: (open: () => void) => ReactNode;
}

/** Brings traces in from files of Jaeger or of OpenTelemetry. */
export function ImportTraces({ locked, onDone, children }: ImportTracesProps) {
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [rejected, setRejected] = useState<TracesImported | null>(null);
  const bring = async (files: readonly File[]) => {
    setProblem(null);
    setRejected(null);
    for (const file of files) {
      setBusy(file.name);
      try {
        const found = await importTraces(file);
        toast(`Imported ${counted(found.traces, "trace")}, ${counted(found.spans, "span")}.`);
        if (found.rejected > 0) setRejected(found);
      } catch (error) {
        setProblem(asProblem(error));
      }
    }
    setBusy("");
    onDone();
  };
  return (
    <FileDrop
      label="Traces"
      choose="Traces to import"
      accept=".json,application/json"
      hint="Drop a file of traces (Jaeger or OTLP, JSON) to import it"
      locked={locked}
      onFiles={(files) => void bring(files)}
    >
      {(open) => (
        <>
          {problem === null ? null : <ProblemNotice problem={problem} />}
          {busy === "" ? null : <Notice status="info" title={`Importing ${busy}…`} />}
          {rejected === null ? null : (
            <Notice
              status="warning"
              title={`${counted(rejected.rejected, "span was", "spans were")} not imported`}
            >
              {rejected.reasons.join(" ")}
            </Notice>
          )}
          {children(open)}
        </>
      )}
    </FileDrop>
  );
}
