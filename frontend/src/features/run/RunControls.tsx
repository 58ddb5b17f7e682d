import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useRef,
  useState,
} from "react";
import { localTime, preciseTime } from "../../base/clock";
import { spaceBar } from "../../base/keyboard";
import { navigate, parameter, withParameter } from "../../base/routing";
import { hasBackend } from "../../base/source";
import { useStore } from "../../base/useStore";
import { Sparkline } from "../../chart/Sparkline";
import { useLiveClient } from "../../stream/client";
import { formatDuration } from "../../stream/format";
import type { TimeWindow } from "../../stream/viewRequest";
import type { Span } from "../../stream/window";
import { Button, SegmentedControl } from "../../ui/Controls";
import type { RunManifest } from "../../wire/generated/models";
import { PanelNav } from "../arrange/PanelNav";
import { CompareBefore } from "../change/ChangePanel";
import { compareHref, EMPTY_LINK } from "../compare/link";
import { type SideWindow, sideOf, typedWindow, windowText } from "../compare/side";
import controls from "../scope/TargetHeader.module.css";
import { LineControls, WindowRequests } from "../scope/ViewControls";
import {
  advance,
  isWhole,
  MIN_S,
  PLAY_STEP_MS,
  playbackStart,
  SPEEDS,
  type Speed,
  windowAfterKey,
} from "./playback";
import styles from "./RunPage.module.css";

/** The visible window of the run, and playback controls. */
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
      {hasBackend() ? (
        <WindowPair run={run.id} extent={extent} window={window} whole={whole} />
      ) : null}
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

/** Length of the window, and resolution of its data. */
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

/** Advance the window during playback; the space bar toggles playback. */
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

interface WindowPairProps {
  readonly run: string;
  /** The whole run, and its visible window. */
  readonly extent: Span;
  readonly window: Span;
  readonly whole: boolean;
}

/** Address parameter of the first window. */
const FIRST = "a";
const PAIR_MIN_S = 0.5;

/** Selection of two windows of one run for Compare: the visible one becomes A, another one B. */
function WindowPair({ run, extent, window, whole }: WindowPairProps) {
  const [first, setFirst] = useState(() => typedWindow(parameter(FIRST) ?? "") ?? null);
  const here: SideWindow = {
    from_s: window.t0_s - extent.t0_s,
    to_s: window.t1_s - extent.t0_s,
  };
  const side = sideOf(run, here);
  const choose = (next: SideWindow | null) => {
    setFirst(next);
    const text = next === null ? null : (sideOf(run, next)?.split("@")[1] ?? null);
    navigate(withParameter(FIRST, text), "replace");
  };
  if (first === null) {
    return whole ? null : (
      <Button
        title="Keep this window as A; then choose another one to compare it with"
        disabled={here.to_s - here.from_s < PAIR_MIN_S}
        onClick={() => choose(here)}
      >
        Window A
      </Button>
    );
  }
  const sides = [sideOf(run, first), side].flatMap((one) => one ?? []);
  const ready = sides.length === 2 && sides[0] !== sides[1];
  return (
    <>
      <Button title="Forget window A" onClick={() => choose(null)}>
        A: {windowText(first)} ×
      </Button>
      <Button
        variant="primary"
        disabled={!ready}
        title={ready ? "" : "Choose another window: drag in a chart or in the bar below"}
        onClick={() => navigate(compareHref({ ...EMPTY_LINK, groups: sides.map((one) => [one]) }))}
      >
        Compare A with this window
      </Button>
    </>
  );
}

interface ScrubBarProps {
  readonly run: RunManifest;
  readonly extent: Span;
  readonly window: Span;
  readonly onWindow: (window: Span) => void;
}

/** Distance from a window edge within which a press grabs the edge, in CSS pixels. */
const EDGE_PX = 8;
const HEIGHT_PX = 40;

/** Part being dragged, and the drag's start. */
interface Drag {
  readonly part: "all" | "left" | "right" | "new";
  readonly at_s: number;
  readonly from: Span;
}

/** CPU of the whole run in one line with the window, which can be dragged, resized or redrawn. */
function ScrubBar({ run, extent, window, onWindow }: ScrubBarProps) {
  const client = useLiveClient();
  const outline = useStore(client.outline);
  const bar = useRef<HTMLDivElement>(null);
  const drag = useRef<Drag | null>(null);
  const whole_s = extent.t1_s - extent.t0_s;
  const place = (t_s: number) => `${(100 * (t_s - extent.t0_s)) / whole_s}%`;
  const timeOf = (event: PointerEvent) => {
    const box = bar.current?.getBoundingClientRect();
    const share = box ? (event.clientX - box.left) / box.width : 0;
    return extent.t0_s + Math.min(1, Math.max(0, share)) * whole_s;
  };

  const onPointerDown = (event: PointerEvent) => {
    const width_px = bar.current?.clientWidth ?? 1;
    const at_s = timeOf(event);
    const near_s = (EDGE_PX * whole_s) / width_px;
    const { t0_s, t1_s } = window;
    const whole = t1_s - t0_s >= whole_s * (1 - 1e-9);
    const inside = at_s > t0_s && at_s < t1_s && !whole;
    const left = Math.abs(at_s - t0_s) < near_s;
    const right = Math.abs(at_s - t1_s) < near_s;
    const part = left ? "left" : right ? "right" : inside ? "all" : "new";
    drag.current = { part, at_s, from: window };
    bar.current?.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent) => {
    if (drag.current === null) {
      return;
    }
    const { part, at_s, from } = drag.current;
    const now_s = timeOf(event);
    if (part === "all") {
      onWindow({ t0_s: from.t0_s + now_s - at_s, t1_s: from.t1_s + now_s - at_s });
    } else if (part === "left") {
      onWindow({ t0_s: Math.min(now_s, from.t1_s - MIN_S), t1_s: from.t1_s });
    } else if (part === "right") {
      onWindow({ t0_s: from.t0_s, t1_s: Math.max(now_s, from.t0_s + MIN_S) });
    } else if (Math.abs(now_s - at_s) >= MIN_S) {
      onWindow({ t0_s: Math.min(at_s, now_s), t1_s: Math.max(at_s, now_s) });
    }
  };
  const onPointerUp = (event: PointerEvent) => {
    const held = drag.current;
    drag.current = null;
    const now_s = timeOf(event);
    const width = window.t1_s - window.t0_s;
    // A press beside the window centres the window there.
    if (held?.part === "new" && Math.abs(now_s - held.at_s) < MIN_S && width < whole_s) {
      onWindow({ t0_s: now_s - width / 2, t1_s: now_s + width / 2 });
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next =
      event.ctrlKey || event.altKey || event.metaKey
        ? null
        : windowAfterKey(event.key, window, extent);
    if (next !== null) {
      event.preventDefault();
      onWindow(next);
    }
  };

  const unixMs = (t_s: number) => run.target.attached_unix_us / 1000 + 1000 * t_s;
  const clock = (t_s: number) => localTime(unixMs(t_s));
  // A short window moves by tenths of a second, which screen readers must announce.
  const precise = (t_s: number) => preciseTime(unixMs(t_s));
  return (
    <div className={styles.scrub}>
      <div
        ref={bar}
        className={styles.bar}
        role="slider"
        tabIndex={0}
        aria-label="Visible part of the run"
        aria-valuemin={0}
        aria-valuemax={Math.round(whole_s)}
        aria-valuenow={Math.round(window.t0_s - extent.t0_s)}
        aria-valuetext={`${precise(window.t0_s)} to ${precise(window.t1_s)}, ${formatDuration(window.t1_s - window.t0_s)} of ${formatDuration(whole_s)}`}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => {
          drag.current = null;
        }}
        onKeyDown={onKeyDown}
      >
        {outline === null ? null : (
          <Sparkline
            values={outline.cores}
            width={1000}
            height={HEIGHT_PX}
            colour="var(--accent)"
          />
        )}
        {run.marks.map(({ time_ns, text }) => (
          <span
            key={`${time_ns} ${text}`}
            className={styles.mark}
            style={{ left: place(time_ns / 1e9) }}
            title={text}
          />
        ))}
        <span className={styles.before} style={{ width: place(window.t0_s) }} />
        <span className={styles.after} style={{ left: place(window.t1_s) }} />
        <span
          className={styles.window}
          style={{ left: place(window.t0_s), right: `calc(100% - ${place(window.t1_s)})` }}
        />
      </div>
      <div className={styles.ends} aria-hidden="true">
        <span>{clock(extent.t0_s)}</span>
        <span>CPU of the process</span>
        <span>{clock(extent.t1_s)}</span>
      </div>
    </div>
  );
}
