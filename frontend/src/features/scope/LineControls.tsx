import { useStore } from "../../base/useStore";
import { RING_FIELDS } from "../../stream/chartSpecs";
import { useLiveClient } from "../../stream/clients";
import { fieldLabel } from "../../stream/format";
import type { Level } from "../../stream/viewRequest";
import { Popover } from "../../ui/Popover";
import { Select } from "../../ui/Select";
import type { Target } from "../../wire/generated/models";
import styles from "./LineControls.module.css";

const TOP = [5, 10, 20, 50] as const;

const USUAL = "usual";

const LEVELS: readonly { readonly value: Level | typeof USUAL; readonly label: string }[] = [
  { value: USUAL, label: "CPU stacked, others by thread" },
  { value: "process", label: "processes" },
  { value: "role", label: "roles" },
  { value: "thread", label: "threads" },
];

/** What charts have lines of, which get one, and where their sums start. */
export function LineControls({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const view = useStore(client.view);
  const group = target.group != null;
  const ranked = RING_FIELDS.filter((field) => target.fields.includes(field));
  return (
    <Popover face="Lines" label="Lines of charts">
      <div className={styles.lines}>
        <Select
          label="Lines of"
          value={view.level ?? USUAL}
          choices={choicesOf(group)}
          onChange={(level) => client.request({ level: level === USUAL ? null : level })}
        />
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
            { value: "", label: "each chart's own metric" },
            ...ranked.map((field) => ({ value: field, label: fieldLabel(field) })),
          ]}
          onChange={(field) => client.request({ rank_by: field === "" ? "chart" : { field } })}
        />
        <Select
          label="Cumulative since"
          value={view.baseline}
          choices={[
            { value: "attach", label: client.extent === null ? "attach" : "start of run" },
            { value: "start", label: "thread start" },
          ]}
          onChange={(baseline) => client.request({ baseline })}
        />
      </div>
    </Popover>
  );
}

function choicesOf(group: boolean): typeof LEVELS {
  if (!group) return LEVELS.filter(({ value }) => value !== "process");
  const usual = { value: USUAL, label: "processes, CPU stacked" } as const;
  return LEVELS.map((each) => (each.value === USUAL ? usual : each));
}
