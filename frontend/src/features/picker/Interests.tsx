import { useMemo } from "react";
import { listRuns } from "../../api/runs";
import { usePolled } from "../../api/usePolled";
import { localDate } from "../../base/clock";
import { runHref } from "../../base/route";
import { runTargetName } from "../../stream/targetName";
import { PageLink } from "../../ui/Controls";
import { useStableOrder } from "../../ui/useStableOrder";
import type { Process } from "../../wire/generated/models";
import { type Interest, type Interesting, interestsOf } from "./interest";
import styles from "./Picker.module.css";

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
