import { type KeyboardEvent, type PointerEvent, useRef } from "react";
import { localTime, preciseTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { Sparkline } from "../../chart/Sparkline";
import { useLiveClient } from "../../stream/clients";
import { formatDuration } from "../../stream/format";
import type { Span } from "../../stream/window";
import type { RunManifest } from "../../wire/generated/models";
import { MIN_S, windowAfterKey } from "./playback";
import styles from "./ScrubBar.module.css";

interface ScrubBarProps {
  readonly run: RunManifest;
  readonly extent: Span;
  readonly window: Span;
  readonly onWindow: (window: Span) => void;
}

/** So near an edge of the window, a press takes hold of the edge. */
const EDGE_PX = 8;
const HEIGHT_PX = 40;

/** What is dragged, from where. */
interface Drag {
  readonly part: "all" | "left" | "right" | "new";
  readonly at_s: number;
  readonly from: Span;
}

/** CPU of the whole run in one line, and the window on it: drag it, its edges, or a new one. */
export function ScrubBar({ run, extent, window, onWindow }: ScrubBarProps) {
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
    // A press beside the window brings it there.
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
  // A short window moves by tenths of a second, which those who listen are to hear.
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
