/** Feature `kept`: targets of the ring in, runs that are cut out of their last minutes out. */

import { type FormEvent, useState } from "react";
import { asProblem } from "../../api/http";
import { cutRun } from "../../api/ring";
import { localField, localTime, momentOfField } from "../../base/clock";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { toast } from "../../base/toasts";
import { targetName } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Dialog } from "../../ui/Overlays";
import type { Problem, RingTrack, RunManifest } from "../../wire/generated/models";
import styles from "./Kept.module.css";

/** Maximum name length, leaving room for the time. */
const LONGEST = 100;

/** Cut a window of a target, announced with a link to the run. */
export async function keep(track: RingTrack, fromUs: number, toUs: number): Promise<void> {
  const run = await cut(track, fromUs, toUs);
  toast(`Kept ${run.name}.`, { label: "Open", run: () => navigate(runHref(run.id)) });
}

/** Make a run of a window of a target. */
export async function cut(track: RingTrack, fromUs: number, toUs: number): Promise<RunManifest> {
  const name = `${targetName(track.target).slice(0, LONGEST)} ${localTime(toUs / 1000)}`;
  return cutRun({
    track: track.id,
    host: track.target.host,
    from_unix_us: Math.round(fromUs),
    to_unix_us: Math.round(toUs),
    name,
  });
}

interface KeptWindowProps {
  readonly track: RingTrack;
  readonly onClose: () => void;
}

/** Asks for a window of what the ring has of a target. */
export function KeptWindow({ track, onClose }: KeptWindowProps) {
  const [from, setFrom] = useState(localField(track.from_unix_us / 1000));
  const [to, setTo] = useState(localField(track.to_unix_us / 1000));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [fromMs, toMs] = [momentOfField(from), momentOfField(to)];
  const empty = fromMs === null || toMs === null || fromMs >= toMs;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (empty) {
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      // A field has whole milliseconds.
      await keep(track, fromMs * 1000, (toMs + 1) * 1000);
      onClose();
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return (
    <Dialog title={`Keep a window of ${targetName(track.target)}`} onClose={onClose}>
      <form className={styles.form} onSubmit={(event) => void save(event)}>
        {problem === null ? null : <ProblemNotice problem={problem} />}
        <TimeField label="From" value={from} onChange={setFrom} />
        <TimeField label="To" value={to} onChange={setTo} />
        <div className={styles.buttons}>
          <Button type="submit" variant="primary" disabled={busy || empty}>
            {busy ? "Cutting…" : "Keep as a run"}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

interface TimeFieldProps {
  readonly label: string;
  /** Local time as an input has it. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function TimeField({ label, value, onChange }: TimeFieldProps) {
  return (
    <label>
      {label}
      <input
        className="text-field"
        type="datetime-local"
        step={0.001}
        value={value}
        required
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
