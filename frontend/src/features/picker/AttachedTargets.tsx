import { localTime, utcTime } from "../../base/clock";
import { liveHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { commandLine, targetId, targetName } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import { ProblemNotice, StatusIcon } from "../../ui/Notices";
import type { Target } from "../../wire/generated/models";
import { detachLabel, useDetach } from "../attach/useAttach";
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
        <span className={styles.command}>{target.group ? "" : commandLine(target.process)}</span>
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
          look="quiet"
          onClick={() => onEnd(target)}
          aria-label={`${verb}, ${target.group ? targetName(target) : targetId(target)}`}
        >
          {verb}
        </Button>
      ) : null}
    </li>
  );
}
