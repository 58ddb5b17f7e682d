import { memo } from "react";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { Button } from "../../ui/Button";
import type { Target } from "../../wire/generated/models";
import { PanelNav } from "../arrange/PanelNav";
import { LineControls } from "./LineControls";
import styles from "./ViewControls.module.css";
import { WindowRequests } from "./WindowRequests";
import { WindowSelect } from "./WindowSelect";

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
