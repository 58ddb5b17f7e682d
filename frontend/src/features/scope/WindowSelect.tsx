import { useEffect, useState } from "react";
import { useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { Button } from "../../ui/Button";
import { SegmentedControl } from "../../ui/SegmentedControl";
import { CompareBefore } from "../change/CompareBefore";
import { WINDOWS, type WindowChoice, windowFor, zoomWords } from "./timeWindows";

/** "All" grows in large steps; looking once a second is enough. */
const STEP_MS = 1000;

/** The part of time on all axes. Dragging in a chart zooms; this leads back. */
export function WindowSelect() {
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
