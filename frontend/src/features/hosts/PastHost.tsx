import { useCallback, useState } from "react";
import { asProblem } from "../../api/http";
import { readRingOf } from "../../api/ring";
import { VIEW_ONLY } from "../../api/session";
import { usePolled } from "../../api/usePolled";
import { localDate, localTime } from "../../base/clock";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { targetName } from "../../stream/targetName";
import { Button, CommandLine } from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import { Dialog } from "../../ui/Overlays";
import type { FleetHost, Problem, RingResponse, RingTrack } from "../../wire/generated/models";
import { cut } from "../kept/KeptWindow";
import styles from "./Hosts.module.css";

interface PastHostProps {
  readonly host: FleetHost;
  /** The window, Unix ms. */
  readonly since_ms: number;
  readonly until_ms: number;
  readonly onTotals: () => void;
  readonly onClose: () => void;
}

/** A connected host in a past window: what it kept of its threads, which becomes runs. */
export function PastHost({ host, since_ms, until_ms, onTotals, onClose }: PastHostProps) {
  const read = useCallback((signal: AbortSignal) => readRingOf(host.host, signal), [host.host]);
  const { value, problem, refresh } = usePolled(read, null);
  return (
    <Dialog
      title={`${host.name}, ${localDate(since_ms)} to ${localDate(until_ms)}`}
      onClose={onClose}
    >
      <div className={styles.past}>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        {value === null ? (
          problem === null && <p role="status">Asking {host.name} what it kept…</p>
        ) : (
          <Kept ring={value} window_us={[since_ms * 1000, until_ms * 1000]} />
        )}
        <div className={styles.pastButtons}>
          <Button onClick={onTotals}>Totals of this host</Button>
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}

type Window = readonly [from: number, to: number];

/** The part of a window that a track has, Unix us; null without any. */
export function partKept(track: RingTrack, [from, to]: Window): Window | null {
  const part = [Math.max(from, track.from_unix_us), Math.min(to, track.to_unix_us)] as const;
  return part[0] < part[1] ? part : null;
}

interface KeptProps {
  readonly ring: RingResponse;
  readonly window_us: Window;
}

function Kept({ ring, window_us }: KeptProps) {
  const viewer = useStore(session)?.role === "viewer";
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const open = async (track: RingTrack, [from, to]: Window) => {
    setBusy(track.id);
    setProblem(null);
    try {
      navigate(runHref((await cut(track, from, to)).id));
    } catch (error) {
      setProblem(asProblem(error));
      setBusy("");
    }
  };
  if (!ring.on && ring.tracks.length === 0) {
    return (
      <EmptyState title="This host keeps no threads">
        <p>To have the last hour of them, in a fleet, start its collector with:</p>
        <CommandLine
          command="tidscope collect --fleet nats://… --keep-minutes 60"
          what="the command that keeps the last hour"
        />
      </EmptyState>
    );
  }
  const kept = ring.tracks.flatMap((track) => {
    const part = partKept(track, window_us);
    return part === null ? [] : [{ track, part }];
  });
  if (kept.length === 0) return <EmptyState title="Nothing is kept of this window" />;
  return (
    <>
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <ul className={styles.pastTracks} aria-label="Kept threads">
        {kept.map(({ track, part }) => (
          <li key={track.id} data-kept={track.id}>
            <span>
              <b>{targetName(track.target)}</b> {localTime(part[0] / 1000)} to{" "}
              {localTime(part[1] / 1000)}
            </span>
            <Button
              variant="primary"
              disabled={viewer || busy !== ""}
              title={viewer ? VIEW_ONLY : ""}
              aria-label={`Open threads of ${targetName(track.target)}`}
              onClick={() => void open(track, part)}
            >
              {busy === track.id ? "Fetching…" : "Open threads"}
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
