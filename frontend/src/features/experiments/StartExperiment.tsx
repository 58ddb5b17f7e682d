/** Starts and ends experiments of the backend's configured folders. */

import { useState } from "react";
import { endExperiment, startExperiment } from "../../api/experiments";
import { asProblem } from "../../api/http";
import { VIEW_ONLY } from "../../api/session";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { formatDuration } from "../../stream/format";
import { Button, Select } from "../../ui/Controls";
import { Notice, ProblemNotice } from "../../ui/Notices";
import type {
  ExperimentChild,
  ExperimentPreset,
  Problem,
  StartableExperiment,
} from "../../wire/generated/models";
import shared from "../compare/ComparePage.module.css";
import styles from "./ExperimentsPage.module.css";

const PRESETS: Readonly<Record<ExperimentPreset, string>> = {
  full: "in full",
  short: "short",
  quick: "quick, to try it",
};

/** Exit codes of `tidscope experiment`, in words. */
const ENDS: Readonly<Record<number, string>> = {
  0: "is done",
  3: "is done; a cell failed",
  130: "was ended; tidscope experiment FILE --resume continues it",
};

/** How an experiment that was started here is doing. */
export function childText(child: ExperimentChild): string {
  const what = child.preset === "full" ? child.name : `${child.name}, ${child.preset},`;
  if (child.exit_code === null) return `${what} is running.`;
  return `${what} ${ENDS[child.exit_code] ?? `failed (exit code ${child.exit_code})`}.`;
}

interface StartExperimentProps {
  /** Files of the configured folders. */
  readonly files: readonly StartableExperiment[];
  readonly child: ExperimentChild | null;
  /** Called after a start or an end. */
  readonly onChange: () => void;
}

/** A form that starts an experiment, and the one that was started last. */
export function StartExperiment({ files, child, onChange }: StartExperimentProps) {
  const viewer = useStore(session)?.role === "viewer";
  const [chosen, setChosen] = useState<string | null>(null);
  const [wanted, setWanted] = useState<ExperimentPreset>("quick");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const usable = files.filter((one) => one.problem === "");
  const file = usable.find(({ name }) => name === chosen) ?? usable[0];
  const length = file?.lengths.find(({ preset }) => preset === wanted) ?? file?.lengths[0];
  const running = child !== null && child.exit_code === null;

  const ask = async (what: () => Promise<unknown>) => {
    setBusy(true);
    setProblem(null);
    try {
      await what();
      onChange();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };

  if (files.length === 0 && child === null) return null;
  return (
    <section className={`${shared.panel} ${styles.start}`} aria-label="Start an experiment">
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {file === undefined || length === undefined ? null : (
        <div className={styles.form}>
          <Select
            label="File"
            value={file.name}
            choices={usable.map(({ name, title }) => ({ value: name, label: `${name}: ${title}` }))}
            onChange={setChosen}
          />
          <Select
            label="Length"
            value={length.preset}
            choices={file.lengths.map(({ preset, least_s }) => ({
              value: preset,
              label:
                least_s === null
                  ? PRESETS[preset]
                  : `${PRESETS[preset]}, at least ${formatDuration(least_s)}`,
            }))}
            onChange={setWanted}
          />
          <Button
            variant="primary"
            disabled={viewer || busy || running}
            title={viewer ? VIEW_ONLY : running ? "One experiment runs at a time." : ""}
            onClick={() =>
              void ask(() => startExperiment({ name: file.name, preset: length.preset }))
            }
          >
            Start
          </Button>
        </div>
      )}
      {child === null ? null : (
        <Notice
          status={running ? "info" : child.exit_code === 0 ? "ok" : "warning"}
          title={childText(child)}
          actions={
            running ? (
              <Button
                disabled={viewer || busy}
                title={viewer ? VIEW_ONLY : ""}
                onClick={() => void ask(endExperiment)}
              >
                End
              </Button>
            ) : undefined
          }
        >
          <ul className={styles.list}>
            {child.messages.map((text) => (
              <li key={text} className={styles.note}>
                {text}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {files
        .filter((one) => one.problem !== "")
        .map(({ name, problem }) => (
          <p key={name} className={shared.hint}>
            {name} cannot be started: {problem}
          </p>
        ))}
    </section>
  );
}
