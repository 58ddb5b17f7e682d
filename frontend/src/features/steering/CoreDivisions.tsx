import { localTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { counted } from "../../stream/format";
import { Panel } from "../../ui/Panel";
import type { Target } from "../../wire/generated/models";
import styles from "./CoreDivisions.module.css";
import {
  claimText,
  type DividedProgram,
  dividedPrograms,
  divisionState,
  marginText,
  recordedDivisions,
  sinceText,
} from "./divisionText";

/** An arbiter's division of cores, with reasons; empty without one. */
export function CoresPanel({ target }: { readonly target: Target }) {
  const programs = dividedPrograms(target);
  return (
    <Panel title="Cores" note={summary(programs)} data-panel="cores">
      <CoreDivisions programs={programs} />
    </Panel>
  );
}

/** Programs of a run with shares of cores, as of the end of the visible window. */
export function useRecordedPrograms(target: Target): readonly DividedProgram[] {
  return recordedDivisions(target, useStore(useLiveClient().steer)?.divisions ?? []);
}

/** `CoresPanel` of a run, as of the end of the visible window. */
export function RecordedCoresPanel({ target }: { readonly target: Target }) {
  const divisions = useStore(useLiveClient().steer)?.divisions ?? [];
  const programs = recordedDivisions(target, divisions);
  if (programs.length === 0) return null;
  const last_s = Math.max(...divisions.map(({ t_s }) => t_s));
  const at = localTime(target.attached_unix_us / 1000 + 1000 * last_s);
  return (
    <Panel title="Cores" note={`${summary(programs)}, at ${at}`} data-panel="cores">
      <CoreDivisions programs={programs} />
    </Panel>
  );
}

/** `CoresPanel` inside a drawer. */
export function CoresSection({ target }: { readonly target: Target }) {
  const programs = dividedPrograms(target);
  if (programs.length === 0) return null;
  return (
    <section aria-label="Cores">
      <h3 className={styles.title}>
        Cores <small>{summary(programs)}</small>
      </h3>
      <CoreDivisions programs={programs} />
    </section>
  );
}

/** Number of divided cores, of the partition that contains most of these programs. */
function summary(programs: readonly DividedProgram[]): string {
  const { total = 0, programs: among = 0 } = programs[0]?.division ?? {};
  return `${counted(total, "core")} among ${counted(among, "program")}`;
}

function CoreDivisions({ programs }: { readonly programs: readonly DividedProgram[] }) {
  return (
    <ul className={styles.list}>
      {programs.map(({ pid, name, division }) => (
        <li key={pid} className={styles.program} data-divided={pid} data-state={division.state}>
          <p className={styles.head}>
            <b>
              {name} ({pid})
            </b>
            <span className={styles.claim}>{claimText(division)}</span>
            <span className={styles.cores} data-cores={division.cores}>
              {division.cores} of {division.total}
            </span>
          </p>
          <meter
            className={styles.bar}
            min={0}
            max={Math.max(1, division.total)}
            value={division.cores}
            aria-label={`Cores of ${name} (${pid})`}
          />
          <p className={styles.about}>
            <b>{divisionState(division)}</b>, {sinceText(division)}. {division.reason}{" "}
            {marginText(division)}
          </p>
        </li>
      ))}
    </ul>
  );
}
