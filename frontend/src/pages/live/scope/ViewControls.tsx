import { useLiveClient } from "../../../base/liveClient";
import { useReadable } from "../../../base/useReadable";
import { RING_FIELDS } from "../../../model/contract";
import { fieldLabel } from "../../../model/format";
import { Button } from "../../../ui/Button";
import { Select } from "../../../ui/Select";
import type { Target } from "../../../wire/generated/models";
import styles from "./ViewControls.module.css";
import { WindowSelect } from "./WindowSelect";

const TOP = [5, 10, 20, 50] as const;

/** What part of time is shown, and which threads get a line of their own. */
export function ViewControls({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const view = useReadable(client.view);
  const ranked = RING_FIELDS.filter((field) => target.fields.includes(field));
  return (
    <div className={styles.controls} data-paused={view.paused}>
      <Button
        className={styles.pause}
        aria-pressed={view.paused}
        onClick={() => client.setPaused(!view.paused)}
      >
        <svg className={styles.sign} viewBox="0 0 10 10" aria-hidden="true">
          <path d={view.paused ? "M2 1l7 4-7 4z" : "M1.5 1h2.5v8H1.5zM6 1h2.5v8H6z"} />
        </svg>
        {view.paused ? "Continue" : "Pause"}
      </Button>
      <WindowSelect />
      <Select
        label="Lines"
        value={String(view.top_k)}
        choices={TOP.map((count) => ({ value: String(count), label: `top ${count}` }))}
        onChange={(count) => client.request({ top_k: Number(count) })}
      />
      <Select
        label="by"
        value={view.rank_by === "chart" ? "" : view.rank_by.field}
        choices={[
          { value: "", label: "each chart's own measure" },
          ...ranked.map((field) => ({ value: field, label: fieldLabel(field) })),
        ]}
        onChange={(field) => client.request({ rank_by: field === "" ? "chart" : { field } })}
      />
      <Select
        label="Sums from"
        value={view.baseline}
        choices={[
          { value: "attach", label: "attach" },
          { value: "start", label: "thread start" },
        ]}
        onChange={(baseline) => client.request({ baseline })}
      />
      <span className={styles.word} role="status">
        {view.paused ? "Paused. Measuring goes on." : ""}
      </span>
    </div>
  );
}
