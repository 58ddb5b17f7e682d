/** Feature `record`: a target in, requests that start and stop its recording out. */

import { useState } from "react";
import { asProblem } from "../../api/http";
import { record, stopRecording } from "../../api/runs";
import { VIEW_ONLY } from "../../api/session";
import { localTime } from "../../base/clock";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { toast } from "../../base/toasts";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { targetName } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import { RecordingDot } from "../../ui/Notices";
import { Popover, Tooltip } from "../../ui/Overlays";
import type { Problem, RecordRequest, RunManifest, Target } from "../../wire/generated/models";
import { KeptChoices } from "../kept/KeptChoices";
import { takingStacks } from "../stacks/Places";
import styles from "./RecordButton.module.css";

/** Choices for recording retained data, with or without continuing. */
const FROM_PAST: readonly { readonly label: string; readonly past: Partial<RecordRequest> }[] = [
  { label: "Save the last 5 minutes", past: { past_s: 300, duration_s: 0 } },
  { label: "Save the last minute and keep recording", past: { past_s: 60 } },
];

interface RecordButtonProps {
  readonly target: Target;
  readonly onProblem: (problem: Problem | null) => void;
}

/** Starts and stops a recording of the target, with a menu for including the retained past. */
export function RecordButton({ target, onProblem }: RecordButtonProps) {
  const client = useLiveClient();
  const recordings = useStore(client.live)?.recordings ?? [];
  const running = recordings.find((each) => each.target === target.id) ?? null;
  const viewer = useStore(session)?.role === "viewer";
  const [busy, setBusy] = useState(false);

  const ask = async (what: () => Promise<RunManifest>, then: (run: RunManifest) => void) => {
    setBusy(true);
    onProblem(null);
    try {
      then(await what());
    } catch (error) {
      onProblem(asProblem(error));
    }
    setBusy(false);
  };
  const begin = (past: Partial<RecordRequest>) =>
    void ask(
      () =>
        record({
          target: target.id,
          // The time distinguishes runs of one program.
          name: nameNow(target),
          // The run goes on having stacks when this page is closed.
          ...(takingStacks.get() ? { stacks: true } : {}),
          ...past,
        }),
      (run) => {
        if (run.state !== "recording") {
          announce(run);
        }
      },
    );
  // The end of every recording is announced elsewhere; see app/TopBar.tsx.
  const stop = (run: string) =>
    void ask(
      () => stopRecording(run),
      () => undefined,
    );

  const over = target.state !== "attached";
  const why = viewer
    ? VIEW_ONLY
    : over
      ? "The target has ended. Its last minutes can still be saved."
      : null;
  return (
    <div className={styles.record} data-recording={running !== null}>
      {running === null ? (
        <Tooltip text={why}>
          <Button
            className={styles.button}
            disabled={viewer || over || busy}
            onClick={() => begin({})}
          >
            <span className={styles.dot} aria-hidden="true" />
            Record
          </Button>
        </Tooltip>
      ) : (
        <Tooltip text={viewer ? VIEW_ONLY : `Recording ${running.name}`}>
          <Button
            className={styles.button}
            disabled={viewer || busy}
            onClick={() => stop(running.run)}
            aria-label={`Stop recording ${running.name}`}
          >
            <span className={styles.square} aria-hidden="true" />
            Stop
            <RecordingDot since_unix_us={running.created_unix_us} />
            <span className={styles.name}>{running.name}</span>
          </Button>
        </Tooltip>
      )}
      <Popover
        label="Record the past"
        face={
          <>
            <span className="visually-hidden">Record the past</span>▾
          </>
        }
      >
        <div className={styles.menu}>
          {FROM_PAST.map(({ label, past }) => (
            <Button
              key={label}
              variant="quiet"
              disabled={viewer || busy || (running !== null && past.duration_s !== 0)}
              onClick={() => begin(past)}
            >
              {label}
            </Button>
          ))}
          <KeptChoices
            target={target}
            disabled={viewer || busy}
            onFail={(error) => onProblem(asProblem(error))}
          />
          <p className={styles.hint}>
            {viewer
              ? VIEW_ONLY
              : "tidscope buffers the last minutes of every target, so you can record what you have just seen."}
          </p>
        </div>
      </Popover>
    </div>
  );
}

/** Maximum name length, leaving room for the time. */
const LONGEST = 100;

function nameNow(target: Target): string {
  return `${targetName(target).slice(0, LONGEST)} ${localTime(Date.now())}`;
}

/** Announce a run of the retained past, which is complete at once, with a link to it. */
function announce(run: RunManifest): void {
  toast(`Recorded ${run.name}.`, { label: "Open", run: () => navigate(runHref(run.id)) });
}
