import { useCallback, useEffect, useState } from "react";
import { spaceBar } from "../../base/useKeyboard";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { formatDuration } from "../../stream/format";
import type { TimeWindow } from "../../stream/viewRequest";
import type { Span } from "../../stream/window";
import { Button } from "../../ui/Button";
import { SegmentedControl } from "../../ui/SegmentedControl";
import type { RunManifest } from "../../wire/generated/models";
import { PanelNav } from "../arrange/PanelNav";
import { CompareBefore } from "../change/CompareBefore";
import { LineControls } from "../scope/LineControls";
import controls from "../scope/ViewControls.module.css";
import { WindowRequests } from "../scope/WindowRequests";
import { advance, isWhole, PLAY_STEP_MS, playbackStart, SPEEDS, type Speed } from "./playback";
import styles from "./RunControls.module.css";
import { ScrubBar } from "./ScrubBar";
import { WindowPair } from "./WindowPair";

/** The part of the run in view, and playing through it. */
export function RunControls({ run }: { readonly run: RunManifest }) {
  const client = useLiveClient();
  const { window } = useStore(client.view);
  const [speed, setSpeed] = useState<Speed>("1");
  const { playing, toggle } = usePlaying(Number(speed));
  const { extent } = client;
  if (extent === null || window.kind !== "fixed") {
    return null;
  }
  const see = (next: Span) => client.request({ window: { kind: "fixed", ...next } });
  const whole = isWhole(window, extent);
  return (
    <div className={`surface ${controls.controls} ${styles.controls}`}>
      <Button className={controls.pause} aria-pressed={playing} onClick={toggle}>
        <svg className={controls.sign} viewBox="0 0 10 10" aria-hidden="true">
          <path d={playing ? "M1.5 1h2.5v8H1.5zM6 1h2.5v8H6z" : "M2 1l7 4-7 4z"} />
        </svg>
        {playing ? "Stop" : "Play"}
      </Button>
      <SegmentedControl
        label="Speed"
        value={speed}
        choices={SPEEDS.map((value) => ({ value, label: `${value}×` }))}
        onChange={setSpeed}
      />
      <Button disabled={whole} onClick={() => see(extent)}>
        Whole run
      </Button>
      <WindowText window={window} whole={whole} />
      {whole ? null : <CompareBefore seconds={window.t1_s - window.t0_s} />}
      <WindowPair run={run.id} extent={extent} window={window} whole={whole} />
      <WindowRequests target={run.target} window={window} />
      <LineControls target={run.target} />
      <PanelNav />
      <ScrubBar run={run} extent={extent} window={window} onWindow={see} />
    </div>
  );
}

interface WindowTextProps {
  readonly window: Extract<TimeWindow, { kind: "fixed" }>;
  readonly whole: boolean;
}

/** How long the window is, and how fine its data. */
function WindowText({ window, whole }: WindowTextProps) {
  const reading = useStore(useLiveClient().reading);
  const length = formatDuration(window.t1_s - window.t0_s);
  const step = reading?.step_s ?? Number.NaN;
  const fineness =
    reading === null
      ? "reading…"
      : reading.raw
        ? "every sample"
        : `one frame every ${formatDuration(step)}`;
  return (
    <span
      className={styles.words}
      role="status"
      data-reading={reading?.state ?? "loading"}
      data-raw={reading?.raw ?? false}
    >
      {whole ? `all ${length}` : length} · {fineness}
      <span className={styles.busy}>{reading?.state === "loading" ? " · reading…" : ""}</span>
    </span>
  );
}

/** Moves the window on while it plays; the space bar works it too. */
function usePlaying(speed: number): { readonly playing: boolean; readonly toggle: () => void } {
  const client = useLiveClient();
  const [playing, setPlaying] = useState(false);
  const toggle = useCallback(() => {
    const { extent } = client;
    const { window } = client.view.get();
    if (!playing && extent !== null && window.kind === "fixed") {
      client.request({ window: { kind: "fixed", ...playbackStart(window, extent) } });
    }
    setPlaying(!playing);
  }, [client, playing]);
  useEffect(() => {
    spaceBar.set(toggle);
    return () => spaceBar.set(null);
  }, [toggle]);
  useEffect(() => {
    if (!playing) {
      return;
    }
    let last = performance.now();
    const timer = globalThis.setInterval(() => {
      const now = performance.now();
      const { extent } = client;
      const { window } = client.view.get();
      if (extent === null || window.kind !== "fixed") {
        return;
      }
      const next = advance(window, extent, (speed * (now - last)) / 1000);
      last = now;
      if (next === null) {
        setPlaying(false);
      } else {
        client.request({ window: { kind: "fixed", ...next } });
      }
    }, PLAY_STEP_MS);
    return () => globalThis.clearInterval(timer);
  }, [client, playing, speed]);
  return { playing, toggle };
}
