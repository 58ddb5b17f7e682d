import { memo, useEffect, useState } from "react";
import { useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { Button } from "../../ui/Button";
import { SegmentedControl } from "../../ui/SegmentedControl";
import type { Target } from "../../wire/generated/models";
import { PanelNav } from "../arrange/PanelNav";
import { CompareBefore } from "../change/CompareBefore";
import { LineControls } from "./LineControls";
import { WINDOWS, type WindowChoice, windowFor, zoomWords } from "./timeWindows";
import styles from "./ViewControls.module.css";
import { WindowRequests } from "./WindowRequests";

/** What part of time is shown, and which threads get a line of their own. */
export const ViewControls = memo(function ViewControls({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const view = useStore(client.view);
  return (
    <div className={`surface ${styles.controls}`} data-paused={view.paused}>
      <Button
        className={styles.pause}
        aria-pressed={view.paused}
        onClick={() => client.setPaused(!view.paused)}
      >
        <svg className={styles.sign} viewBox="0 0 10 10" aria-hidden="true">
          <path d={view.paused ? "M2 1l7 4-7 4z" : "M1.5 1h2.5v8H1.5zM6 1h2.5v8H6z"} />
        </svg>
        {view.paused ? "Resume" : "Pause"}
      </Button>
      <WindowSelect />
      {view.window.kind === "fixed" ? (
        <WindowRequests target={target} window={view.window} />
      ) : null}
      <LineControls target={target} />
      <PanelNav />
      <span className={styles.word} role="status">
        {view.paused ? "Paused. Sampling continues." : ""}
      </span>
    </div>
  );
});

/** "All" grows in large steps; looking once a second is enough. */
const STEP_MS = 1000;

/** The part of time on all axes. Dragging in a chart zooms; this leads back. */
function WindowSelect() {
  const client = useLiveClient();
  const { window } = useStore(client.view);
  const now_s = useThrottled(client.target, STEP_MS)?.now_s ?? 0;
  const from_s = useThrottled(client.health, STEP_MS)?.history_from_s ?? 0;
  const [choice, setChoice] = useState<WindowChoice>("60");
  const zoomed = window.kind === "fixed";

  const wanted = windowFor(choice, now_s - from_s);
  const seconds = wanted.kind === "last" ? wanted.seconds : 0;
  useEffect(() => {
    if (!zoomed) {
      client.request({ window: { kind: "last", seconds } });
    }
  }, [client, seconds, zoomed]);

  const choose = (next: WindowChoice) => {
    setChoice(next);
    client.request({ window: windowFor(next, now_s - from_s) });
  };
  return (
    <>
      <SegmentedControl
        label="Time window"
        value={zoomed ? "zoomed" : choice}
        choices={WINDOWS}
        onChange={choose}
      />
      {zoomed ? (
        <Button onClick={() => choose(choice)}>Zoomed to {zoomWords(window)} · back to live</Button>
      ) : null}
      <CompareBefore seconds={zoomed ? window.t1_s - window.t0_s : seconds} />
    </>
  );
}
