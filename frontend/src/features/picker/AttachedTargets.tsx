import { useMemo } from "react";
import { listRuns } from "../../api/runs";
import { usePolled } from "../../api/usePolled";
import { localDate, localTime, utcTime } from "../../base/clock";
import { liveHref, runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import {
  commandLine,
  isCommand,
  runTargetName,
  targetId,
  targetName,
} from "../../stream/targetName";
import { Button, PageLink } from "../../ui/Controls";
import { ProblemNotice, StatusIcon } from "../../ui/Notices";
import { useStableOrder } from "../../ui/useStableOrder";
import type { Process, Target } from "../../wire/generated/models";
import { detachLabel, useDetach } from "../attach/useAttach";
import { type Interest, type Interesting, interestsOf } from "./interest";
import styles from "./Picker.module.css";

/** Attached targets, and ended ones that are still kept. */
export function AttachedTargets() {
  const live = useStore(useLiveClient().live);
  const { detachFrom, problem } = useDetach();
  const targets = [...(live?.targets ?? [])].sort(
    (a, b) => b.attached_unix_us - a.attached_unix_us,
  );
  const attached = targets.filter(({ state }) => state === "attached");
  const ended = targets.filter(({ state }) => state !== "attached");
  if (targets.length === 0) {
    return null;
  }
  return (
    <section className={styles.attached} aria-label="Targets">
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {attached.length === 0 ? null : (
        <>
          <h2>Attached</h2>
          <ul className={`surface ${styles.list}`}>
            {attached.map((target) => (
              <TargetRow key={target.id} target={target} onEnd={detachFrom} />
            ))}
          </ul>
        </>
      )}
      {ended.length === 0 ? null : (
        <details>
          <summary className={styles.ended}>{ended.length} ended (data still available)</summary>
          <ul className={`surface ${styles.list}`}>
            {ended.map((target) => (
              <TargetRow key={target.id} target={target} onEnd={detachFrom} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

interface TargetRowProps {
  readonly target: Target;
  readonly onEnd: (target: Target) => void;
}

function TargetRow({ target, onEnd }: TargetRowProps) {
  const verb = detachLabel(target);
  return (
    <li className={styles.target} data-target={target.id}>
      <StatusIcon status={target.state === "attached" ? "ok" : "info"} />
      <a
        className={styles.open}
        href={liveHref(target.id)}
        onClick={(event) => {
          event.preventDefault();
          navigate(liveHref(target.id));
        }}
      >
        <span className={styles.attachedTargetsName}>{targetName(target)}</span>{" "}
        <span className={styles.command}>
          {isCommand(target) ? commandLine(target.process) : ""}
        </span>
      </a>
      <span className={styles.more}>
        {targetId(target)} · {target.state} ·{" "}
        {target.state === "attached" ? `${target.rate_hz} Hz, ` : ""}since{" "}
        <time title={utcTime(target.attached_unix_us / 1000)}>
          {localTime(target.attached_unix_us / 1000)}
        </time>
      </span>
      {target.state === "attached" ? (
        <Button
          variant="quiet"
          onClick={() => onEnd(target)}
          aria-label={`${verb}, ${isCommand(target) ? targetId(target) : targetName(target)}`}
        >
          {verb}
        </Button>
      ) : null}
    </li>
  );
}

interface InterestsProps {
  readonly processes: readonly Process[];
  readonly onPick: (found: Interesting) => void;
}

const MAX_RUNS = 3;

/** Notable processes on this machine, and recent runs. */
export function Interests({ processes, onPick }: InterestsProps) {
  const interests = useMemo(() => interestsOf(processes), [processes]);
  return (
    <section className={styles.interests} aria-label="On this machine now">
      {interests.map((interest) => (
        <Card key={interest.id} interest={interest} onPick={onPick} />
      ))}
      <RecentRuns />
    </section>
  );
}

interface CardProps {
  readonly interest: Interest;
  readonly onPick: (found: Interesting) => void;
}

const keyOf = ({ key }: Interesting) => key;

function Card({ interest, onPick }: CardProps) {
  const { title, meaning, found } = interest;
  const { rows, handlers } = useStableOrder(found, keyOf);
  return (
    <div className={`surface ${styles.card}`} data-interest={interest.id}>
      <h2 title={meaning}>{title}</h2>
      <ol {...handlers}>
        {rows.map((one) => (
          <li key={one.key}>
            <button type="button" onClick={() => onPick(one)}>
              <span className="visually-hidden">Attach to </span>
              <span className={styles.name}>{one.name}</span>{" "}
              <span className={styles.what}>{one.what}</span>{" "}
              <span className={styles.figure}>{one.figure}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The most recent runs; nothing if there are none. */
function RecentRuns() {
  const runs = usePolled(listRuns, null).value?.runs ?? [];
  const last = [...runs].sort((a, b) => b.created_unix_us - a.created_unix_us).slice(0, MAX_RUNS);
  if (last.length === 0) {
    return null;
  }
  return (
    <div className={`surface ${styles.card}`} data-interest="runs">
      <h2>Recent runs</h2>
      <ol>
        {last.map((run) => (
          <li key={run.id}>
            <PageLink className={styles.run} href={runHref(run.id)}>
              <span className={styles.name}>{run.name}</span>
              <span className={styles.what}>{runTargetName(run)}</span>
              <span className={styles.figure}>{localDate(run.created_unix_us / 1000)}</span>
            </PageLink>
          </li>
        ))}
      </ol>
    </div>
  );
}
