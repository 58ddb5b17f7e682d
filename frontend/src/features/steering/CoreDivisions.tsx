import { localTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { counted } from "../../stream/format";
import type { DivisionView } from "../../stream/steerView";
import { Panel } from "../../ui/Panel";
import type { CoreDivision, Target } from "../../wire/generated/models";
import styles from "./CoreDivisions.module.css";

/** A program that shares divided cores. */
interface DividedProgram {
  readonly pid: number;
  readonly name: string;
  readonly division: CoreDivision;
}

const STATES: Record<CoreDivision["state"], string> = {
  settled: "settled",
  trying: "trying another division",
  idle: "no progress: smallest size only",
  absent: "no answer: its cores are with the others",
};

/** The programs of a target with a division, most cores first. */
export function dividedPrograms(target: Target): readonly DividedProgram[] {
  const own = target.steering?.division;
  const { pid, name } = target.process;
  const found: DividedProgram[] = own ? [{ pid, name, division: own }] : [];
  for (const program of target.programs ?? []) {
    const division = program.steering.division;
    if (division) found.push({ pid: program.pid, name: program.name, division });
  }
  return largestFirst(found);
}

/** `dividedPrograms` of a run, from its decisions up to a moment. */
export function recordedDivisions(
  target: Target,
  divisions: readonly DivisionView[],
): readonly DividedProgram[] {
  const { pid, name } = target.process;
  return largestFirst(
    divisions.map(({ division, program }) => ({ ...(program ?? { pid, name }), division })),
  );
}

function largestFirst(programs: readonly DividedProgram[]): readonly DividedProgram[] {
  return [...programs].sort((a, b) => b.division.cores - a.division.cores || a.pid - b.pid);
}

/** Current action of the arbiter on the program. */
export function divisionState({ state }: CoreDivision): string {
  return STATES[state];
}

export function claimText({ share, floor, priority }: CoreDivision): string {
  const parts = [`share ${share}`];
  if (floor > 0) parts.push(`floor ${floor}`);
  if (priority !== 0) parts.push(`priority ${priority}`);
  return parts.join(", ");
}

/** Expected effect of one core more, and one less. */
export function marginText({ state, more_percent, less_percent }: CoreDivision): string {
  if (state === "absent" || state === "idle") return "";
  const more =
    more_percent === null
      ? "It can have no more cores"
      : more_percent < 0
        ? `One core more is expected to cost ${percent(-more_percent)}`
        : `One core more is expected to bring ${percent(more_percent)}`;
  const less =
    less_percent === null
      ? "it can have no fewer"
      : less_percent < 0
        ? `one less, to bring ${percent(-less_percent)}`
        : `one less, to cost ${percent(less_percent)}`;
  return `${more}; ${less}.`;
}

/** Start of the current allocation, by this browser's clock. */
export function sinceText({ changed_unix_us }: CoreDivision): string {
  return `since ${new Date(changed_unix_us / 1000).toLocaleTimeString("en-GB")}`;
}

function percent(value: number): string {
  return value > 0 && value < 1 ? "less than 1 %" : `${Math.round(value)} %`;
}

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
