import { type FormEvent, useEffect, useRef, useState } from "react";
import { localTime, utcTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { formatDuration } from "../../stream/format";
import type { Span } from "../../stream/window";
import { Button } from "../../ui/Controls";
import { InlineEdit } from "../../ui/InlineEdit";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { MAX_MARK_TEXT } from "../../wire/generated/limits";
import type { RunManifest, RunMark } from "../../wire/generated/models";
import { DecisionLog } from "../steering/DecisionLog";
import { ProofPicture } from "../steering/ProofPicture";
import { SizeCurve } from "../steering/SizeCurve";
import { useRunChange } from "./RunHeader";
import styles from "./RunPage.module.css";

interface RunLogProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** Moments of a run: marks by users, and decisions of a policy. */
export function RunLog({ run, onChange }: RunLogProps) {
  const steer = useStore(useLiveClient().steer);
  const steered = steer !== null && (steer.total > 0 || steer.bands.length > 0);
  return (
    <div className={styles.log}>
      <Marks run={run} onChange={onChange} />
      {steered ? (
        <div className={`surface ${styles.decisions}`}>
          <DecisionLog target={run.target} steer={steer} />
        </div>
      ) : null}
      {steer === null || (steer.proof === null && steer.sweep === null) ? null : (
        <section className={`surface ${styles.decisions}`} aria-label="Measured">
          <h3>Measured</h3>
          {steer.sweep === null ? null : <SizeCurve sweep={steer.sweep} />}
          {steer.proof === null ? null : (
            <ProofPicture proof={steer.proof} decisions={steer.decisions} />
          )}
        </section>
      )}
    </div>
  );
}

interface MarksProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** Marks by users, at which runs can be aligned. */
function Marks({ run, onChange }: MarksProps) {
  const client = useLiveClient();
  const { change, busy, problem, locked } = useRunChange(run.id, onChange);
  const save = (marks: readonly RunMark[]) => change({ marks: sortedMarks(marks) });
  const jump = ({ time_ns }: RunMark) => {
    const { window } = client.view.get();
    if (window.kind === "fixed") {
      client.request({ window: { kind: "fixed", ...windowAround(time_ns / 1e9, window) } });
    }
  };
  const point = (t_s: number | null) => client.hover.set({ t_s, key: null, chart: null });
  const clock = (time_ns: number) => run.target.attached_unix_us / 1000 + time_ns / 1e6;
  return (
    <Panel
      title="Marks"
      note="moments to return to, and to align runs at"
      className={styles.runLogPanel}
    >
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {run.marks.length === 0 ? (
        <p className={styles.none}>No marks yet.</p>
      ) : (
        <ol className={styles.list}>
          {run.marks.map((mark, index) => (
            <li
              key={`${mark.time_ns} ${mark.text}`}
              className={styles.runLogMark}
              onPointerEnter={() => point(mark.time_ns / 1e9)}
              onPointerLeave={() => point(null)}
            >
              <Button
                variant="quiet"
                title={utcTime(clock(mark.time_ns))}
                aria-label={`${localTime(clock(mark.time_ns))}, go to ${mark.text}`}
                onClick={() => jump(mark)}
              >
                {localTime(clock(mark.time_ns))}
              </Button>
              <span className={styles.text}>
                <InlineEdit
                  label="Mark"
                  value={mark.text}
                  maxLength={MAX_MARK_TEXT}
                  disabled={locked}
                  onSave={(text) => {
                    if (text !== "") {
                      save(run.marks.with(index, { ...mark, text }));
                    }
                  }}
                />
              </span>
              {locked ? null : (
                <Button
                  variant="quiet"
                  disabled={busy}
                  aria-label={`Remove the mark ${mark.text}`}
                  onClick={() => save(run.marks.toSpliced(index, 1))}
                >
                  ×
                </Button>
              )}
            </li>
          ))}
        </ol>
      )}
      {locked ? null : (
        <NewMark run={run} busy={busy} onAdd={(mark) => save([...run.marks, mark])} />
      )}
    </Panel>
  );
}

interface NewMarkProps {
  readonly run: RunManifest;
  readonly busy: boolean;
  readonly onAdd: (mark: RunMark) => void;
}

/** Adds a mark at the last pointer position in a chart, or else at the window's left end. */
function NewMark({ run, busy, onAdd }: NewMarkProps) {
  const [text, setText] = useState("");
  const at_s = useMoment();
  const since = formatDuration(Math.max(0, Math.round(1e3 * at_s - run.from_ns / 1e6)) / 1e3);
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") {
      onAdd({ time_ns: Math.round(at_s * 1e9), text: text.trim() });
      setText("");
    }
  };
  return (
    <form className={styles.add} onSubmit={add}>
      <input
        className={`text-field ${styles.field}`}
        aria-label="Text of a new mark"
        placeholder="Describe this moment"
        value={text}
        maxLength={MAX_MARK_TEXT}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={busy || text.trim() === ""}>
        Mark at {localTime(run.target.attached_unix_us / 1000 + 1000 * at_s)}
      </Button>
      <p className="note">
        {since} after the start: where you last pointed in a chart, otherwise the left edge of the
        view.
      </p>
    </form>
  );
}

/** The moment last pointed at, if visible. */
function useMoment(): number {
  const client = useLiveClient();
  const { window } = useStore(client.view);
  const pointed = useRef<number | null>(null);
  const [, draw] = useState(0);
  useEffect(
    () =>
      client.hover.subscribe(() => {
        const { t_s, chart } = client.hover.get();
        if (chart !== null && t_s !== null) {
          pointed.current = t_s;
        } else {
          // Shown after the pointer has left the charts: nothing here moves while it is in one.
          draw((count) => count + 1);
        }
      }),
    [client],
  );
  if (window.kind !== "fixed") {
    return 0;
  }
  const t_s = pointed.current;
  return t_s !== null && t_s >= window.t0_s && t_s <= window.t1_s ? t_s : window.t0_s;
}

/** Maximum length of the window that a jump to a mark shows, in seconds. */
const MAX_WINDOW_S = 20;

/** Sorted by time, as the manifest requires. */
function sortedMarks(marks: readonly RunMark[]): RunMark[] {
  return [...marks].sort((a, b) => a.time_ns - b.time_ns);
}

/** A window centred at a moment, with the length of the previous one unless too long. */
function windowAround(t_s: number, { t0_s, t1_s }: Span): Span {
  const half = Math.min(MAX_WINDOW_S, t1_s - t0_s) / 2;
  return { t0_s: t_s - half, t1_s: t_s + half };
}
