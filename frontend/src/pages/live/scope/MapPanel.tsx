import { memo, useCallback, useState } from "react";
import { theme } from "../../../base/theme";
import { READABLE_MS, useStore, useThrottled } from "../../../base/useStore";
import type { MapScale } from "../../../charts/mapColours";
import { ThreadMap } from "../../../charts/ThreadMap";
import { RING_FIELDS } from "../../../model/chartSpecs";
import { fieldLabel } from "../../../model/format";
import { isLedgerField, STATE_FIELD } from "../../../model/states";
import { DEFAULT_MAP, type MapMix } from "../../../model/viewRequest";
import { Panel } from "../../../ui/Panel";
import { SegmentedControl } from "../../../ui/SegmentedControl";
import { Select } from "../../../ui/Select";
import type { Target } from "../../../wire/generated/models";
import { useLiveClient } from "../../clients";
import { CHART_THEMES } from "./chartTheme";
import { MapLegend } from "./MapLegend";
import styles from "./MapPanel.module.css";
import { MapTable } from "./MapTable";
import { mapHeight, mapText } from "./mapText";

/** Every thread × time, with the field and the scale of its colours. */
export const MapPanel = memo(function MapPanel({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const picture = useThrottled(client.map, READABLE_MS);
  const threads = useThrottled(client.target, READABLE_MS)?.live_threads ?? 0;
  const [field, setField] = useState<string | null>(null);
  const [mix, setMix] = useState<MapMix>("max");
  const [spread, setSpread] = useState<"linear" | "log">("log");
  const [scale, setScale] = useState<MapScale>({ top: 1, log: false });
  const [most, setMost] = useState(0);
  // The map grows with its rows and does not shrink: the page below it would jump.
  const rows = Math.max(most, picture?.layout.lanes || threads);
  if (rows > most) {
    setMost(rows);
  }
  const onScale = useCallback((next: MapScale) => setScale(next), []);
  const choices = choicesOf(target);
  const view = picture?.view ?? null;
  const asked = field ?? (target.source.ledger ? STATE_FIELD : DEFAULT_MAP.field);
  const shown = choices.includes(asked) ? asked : (choices[0] ?? asked);
  const states = shown === STATE_FIELD;
  return (
    <Panel
      title="Thread map"
      note={mapText(picture)}
      data-panel="map"
      controls={
        <div className={styles.controls}>
          <Select
            label="Colour"
            value={shown}
            choices={choices.map((each) => ({ value: each, label: fieldLabel(each) }))}
            onChange={setField}
          />
          {states ? null : (
            <SegmentedControl
              label="Colour scale"
              value={spread}
              choices={[
                { value: "log", label: "Log" },
                { value: "linear", label: "Linear" },
              ]}
              onChange={setSpread}
            />
          )}
          {!states && (picture?.layout.per_row ?? 1) > 1 ? (
            <SegmentedControl
              label="Threads that share a row"
              value={mix}
              choices={[
                { value: "max", label: "Highest" },
                { value: "mean", label: "Mean" },
              ]}
              onChange={setMix}
            />
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
          log={spread === "log"}
          height={mapHeight(rows)}
          onScale={onScale}
        />
        {view !== null && view.state !== "ok" ? (
          <p className={styles.message}>{view.reason}</p>
        ) : null}
      </div>
      <MapLegend picture={picture} scale={states ? null : scale} dark={colours.dark} />
      {states ? <MapTable picture={picture} /> : null}
    </Panel>
  );
});

/** What the colour may show: states, then counters, those first whose past is always kept. */
function choicesOf({ fields, source }: Target): readonly string[] {
  const kept: readonly string[] = RING_FIELDS;
  const counters = fields.filter((field) => !isLedgerField(field));
  counters.sort((a, b) => Number(kept.includes(b)) - Number(kept.includes(a)));
  return source.ledger ? [STATE_FIELD, ...counters] : counters;
}
