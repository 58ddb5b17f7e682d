import { memo, use, useCallback, useState } from "react";
import { theme } from "../../base/theme";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import type { MapScale } from "../../chart/mapColours";
import { RING_FIELDS } from "../../stream/chartSpecs";
import { useLiveClient } from "../../stream/clients";
import { fieldLabel } from "../../stream/format";
import { hasLedger, isLedgerField, STATE_FIELD } from "../../stream/states";
import {
  DEFAULT_MAP,
  type MapMix,
  type MapRequest,
  type ThreadKey,
} from "../../stream/viewRequest";
import { Panel } from "../../ui/Panel";
import { PanelSlotContext } from "../../ui/panelSlot";
import { SegmentedControl } from "../../ui/SegmentedControl";
import { Select } from "../../ui/Select";
import type { Target } from "../../wire/generated/models";
import { MapLegend } from "./MapLegend";
import styles from "./MapPanel.module.css";
import { MapTable } from "./MapTable";
import { mapHeight, mapText } from "./mapNote";
import { ThreadMap } from "./ThreadMap";

const ROWS_BY = { process: "Processes", role: "Roles" } as const;
const SPREADS = { log: "Log", linear: "Linear" } as const;
const MIXES = { max: "Highest", mean: "Mean" } as const;

/** Every thread × time, with the field and the scale of its colours. */
export const MapPanel = memo(function MapPanel({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const picture = useThrottled(client.map, READABLE_MS);
  const threads = useThrottled(client.target, READABLE_MS)?.live_threads ?? 0;
  const [field, setField] = useState<string | null>(null);
  const [by, setBy] = useState<MapRequest["by"]>(target.group ? "process" : "role");
  const [unfolded, setUnfolded] = useState<readonly ThreadKey[]>([]);
  const onFold = useCallback(
    (key: ThreadKey) =>
      setUnfolded((before) =>
        before.includes(key) ? before.filter((each) => each !== key) : [...before, key],
      ),
    [],
  );
  const [mix, setMix] = useState<MapMix>("max");
  const [spread, setSpread] = useState<keyof typeof SPREADS>("log");
  const [scale, setScale] = useState<MapScale>({ top: 1, log: false });
  const [most, setMost] = useState(0);
  // The map grows with its rows and does not shrink: the page below it would jump.
  const rows = Math.max(most, picture?.layout.lanes || threads);
  if (rows > most) {
    setMost(rows);
  }
  const large = use(PanelSlotContext)?.large ?? false;
  const onScale = useCallback((next: MapScale) => setScale(next), []);
  const choices = choicesOf(target);
  const view = picture?.view ?? null;
  const asked = field ?? (hasLedger(target) ? STATE_FIELD : DEFAULT_MAP.field);
  const shown = choices.includes(asked) ? asked : (choices[0] ?? asked);
  const states = shown === STATE_FIELD;
  return (
    <Panel
      title="Thread map"
      note={mapText(picture)}
      data-panel="map"
      table={<MapTable />}
      controls={
        <div className={styles.controls}>
          <Select
            label="Colour"
            value={shown}
            choices={choices.map((each) => ({ value: each, label: fieldLabel(each) }))}
            onChange={setField}
          />
          {target.group ? (
            <Switch label="Rows of the map by" value={by} faces={ROWS_BY} onChange={setBy} />
          ) : null}
          {states ? null : (
            <Switch label="Colour scale" value={spread} faces={SPREADS} onChange={setSpread} />
          )}
          {!states && (picture?.layout.per_row ?? 1) > 1 ? (
            <Switch label="Threads that share a row" value={mix} faces={MIXES} onChange={setMix} />
          ) : null}
        </div>
      }
    >
      <div className={styles.map} data-state={view?.state ?? "waiting"}>
        <ThreadMap
          client={client}
          theme={colours}
          field={shown}
          mix={mix}
          by={by}
          open={unfolded}
          onFold={onFold}
          log={spread === "log"}
          height={mapHeight(rows, large)}
          onScale={onScale}
        />
        {view !== null && view.state !== "ok" ? (
          <p className={styles.message}>{view.reason}</p>
        ) : null}
      </div>
      <MapLegend picture={picture} scale={states ? null : scale} dark={colours.dark} />
    </Panel>
  );
});

interface SwitchProps<T extends string> {
  readonly label: string;
  readonly value: T;
  /** What each value is called. */
  readonly faces: Readonly<Record<T, string>>;
  readonly onChange: (value: T) => void;
}

function Switch<T extends string>({ label, value, faces, onChange }: SwitchProps<T>) {
  const choices = (Object.keys(faces) as T[]).map((each) => ({ value: each, label: faces[each] }));
  return <SegmentedControl label={label} value={value} choices={choices} onChange={onChange} />;
}

/** What the colour may show: states, then counters, those first whose past is always kept. */
function choicesOf(target: Target): readonly string[] {
  const kept: readonly string[] = RING_FIELDS;
  const counters = target.fields.filter((field) => !isLedgerField(field));
  counters.sort((a, b) => Number(kept.includes(b)) - Number(kept.includes(a)));
  return hasLedger(target) ? [STATE_FIELD, ...counters] : counters;
}
