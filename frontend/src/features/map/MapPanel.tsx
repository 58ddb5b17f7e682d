/**
 * Feature `map`: the worker's map picture in, a panel with canvases and a table out. It must not
 * compute cell values.
 */

import { memo, use, useCallback, useState } from "react";
import { localTime } from "../../base/clock";
import { theme } from "../../base/theme";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { clockText } from "../../chart/axes";
import { CHART_THEMES } from "../../chart/palette";
import type { MapScale } from "../../chart/stateColours";
import { RING_FIELDS } from "../../stream/chartSpecs";
import { useLiveClient } from "../../stream/client";
import { counted, fieldLabel, formatDuration, formatPercent } from "../../stream/format";
import { groupAt, threadsOf } from "../../stream/mapLayout";
import { cellShares, cellValue, type MapPicture, placeAt } from "../../stream/mapPicture";
import {
  cellStateName,
  hasLedger,
  isLedgerField,
  STATE_FIELD,
  sharesOfCell,
} from "../../stream/states";
import {
  DEFAULT_MAP,
  type MapMix,
  type MapRequest,
  type ThreadKey,
} from "../../stream/viewRequest";
import { SegmentedControl, Select } from "../../ui/Controls";
import { Panel, PanelSlotContext, PictureTable } from "../../ui/Panel";
import type { Target } from "../../wire/generated/models";
import { StacksLink } from "../stacks/Places";
import { MapLegend } from "./MapLegend";
import styles from "./MapPanel.module.css";
import { cellText as cellWords, columnAtTime, type MapCursor, valueText } from "./mapText";
import { ThreadMap } from "./ThreadMap";

const ROWS_BY = { process: "Processes", role: "Roles" } as const;
const SPREADS = { log: "Log", linear: "Linear" } as const;
const MIXES = { max: "Highest", mean: "Mean" } as const;

/** Every thread × time, with controls for field and colour scale. */
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
  const [cell, setCell] = useState<MapCursor | null>(null);
  // The map grows with its rows but never shrinks, so that the page below does not jump.
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
          onCell={setCell}
        />
        {view !== null && view.state !== "ok" ? (
          <p className={styles.message}>{view.reason}</p>
        ) : null}
      </div>
      {cell !== null && picture !== null ? <CellStacks cell={cell} picture={picture} /> : null}
      <MapLegend picture={picture} scale={states ? null : scale} dark={colours.dark} />
    </Panel>
  );
});

interface CellStacksProps {
  readonly cell: MapCursor;
  readonly picture: MapPicture;
}

/** Links to the stacks of the pressed cell, and of its thread. */
function CellStacks({ cell, picture }: CellStacksProps) {
  const words = cellWords(picture, cell.t_s, cell.key);
  if (words === null) return null;
  const { bin_s } = picture.view;
  const column = columnAtTime(picture, cell.t_s);
  const span = { t0_s: column * bin_s, t1_s: (column + 1) * bin_s };
  const what = { key: cell.key, name: words.thread };
  return (
    <p className={styles.links} data-cell-stacks="">
      <StacksLink what={{ ...what, span }} plain={null}>
        Stacks of {words.thread} in this cell, {words.time}
      </StacksLink>{" "}
      <StacksLink what={what} plain={null}>
        in the whole window
      </StacksLink>
    </p>
  );
}

interface SwitchProps<T extends string> {
  readonly label: string;
  readonly value: T;
  /** Label of each value. */
  readonly faces: Readonly<Record<T, string>>;
  readonly onChange: (value: T) => void;
}

function Switch<T extends string>({ label, value, faces, onChange }: SwitchProps<T>) {
  const choices = (Object.keys(faces) as T[]).map((each) => ({ value: each, label: faces[each] }));
  return <SegmentedControl label={label} value={value} choices={choices} onChange={onChange} />;
}

/** Choices for the colour: states, then counters, starting with the permanently recorded ones. */
function choicesOf(target: Target): readonly string[] {
  const kept: readonly string[] = RING_FIELDS;
  const counters = target.fields.filter((field) => !isLedgerField(field));
  counters.sort((a, b) => Number(kept.includes(b)) - Number(kept.includes(a)));
  return hasLedger(target) ? [STATE_FIELD, ...counters] : counters;
}

/** Height for a number of rows, in CSS pixels. */
function mapHeight(rows: number, large = false): number {
  if (large) {
    return 640;
  }
  if (rows <= 10) {
    return 200;
  }
  return rows <= 40 ? 300 : 420;
}

const UNITS: Readonly<Record<string, string>> = {
  cores: "cores",
  share: "share of time",
  "bytes/s": "bytes per second",
  "1/s": "per second",
};

/** Number of threads, how they share rows, and the meaning of a cell. */
function mapText(picture: MapPicture | null): string {
  if (picture === null || picture.view.state !== "ok") {
    return "";
  }
  const { view, layout } = picture;
  const threads = layout.tid.length;
  const states = view.field === STATE_FIELD;
  const parts = [
    states
      ? `what threads did most of each ${formatDuration(view.bin_s)}`
      : `${UNITS[view.unit] ?? view.unit}, mean over ${formatDuration(view.bin_s)}`,
    counted(threads, "thread"),
  ];
  if (layout.per_row > 1) {
    const word = states ? "together" : view.mix === "max" ? "highest shown" : "mean shown";
    parts.push(`up to ${layout.per_row} per row, ${word}`);
  }
  if (view.since_s !== null) {
    const since = localTime(view.attached_unix_ms + 1000 * view.since_s);
    parts.push(`recorded since you chose it, ${since}`);
  }
  return parts.join(" · ");
}

/** Maximum rows drawn; use the filter and the thread table to see the rest. */
const MAX_ROWS = 200;
/** Number of instants before the newest one. */
const EARLIER = 4;

/** The map as a table: its newest column, and some earlier ones. */
function MapTable() {
  const picture = useThrottled(useLiveClient().map, READABLE_MS);
  if (picture === null || picture.view.state !== "ok") return null;
  const { layout, view } = picture;
  // The last column is incomplete.
  const newest = Math.max(picture.from, picture.to - 2);
  const step = Math.max(1, Math.floor((newest - picture.from) / EARLIER));
  const earlier = Array.from({ length: EARLIER }, (_, n) => newest - (n + 1) * step).filter(
    (column) => column >= picture.from,
  );
  const rows = Array.from({ length: Math.min(MAX_ROWS, layout.rows) }, (_, row) => row).filter(
    (row) => threadsOf(layout, row) > 0,
  );
  const timeOf = (column: number) => clockText(view.attached_unix_ms + 1000 * column * view.bin_s);
  return (
    <PictureTable
      label="What threads do now"
      columns={[
        { id: "thread", name: "Thread" },
        { id: "role", name: "Role" },
        { id: "now", name: `Now, ${timeOf(newest)}` },
        ...earlier.map((column, n) => ({ id: `${n}`, name: timeOf(column) })),
      ]}
      rows={rows.map((row) => ({
        id: row,
        head: threadText(picture, newest, row),
        cells: [
          groupAt(layout, row)?.role ?? "",
          ...[newest, ...earlier].map((column) => cellText(picture, column, row)),
        ],
      }))}
      {...(layout.rows > MAX_ROWS
        ? { note: `The first ${MAX_ROWS} rows; filter threads to see others.` }
        : {})}
    />
  );
}

function threadText(picture: MapPicture, column: number, row: number): string {
  const { layout } = picture;
  const place = placeAt(picture, column, row);
  const process = layout.processes[place] ?? "";
  const thread = `${layout.names[place]} (${layout.tid[place]})`;
  return process === "" ? thread : `${thread} of ${process}`;
}

function cellText(picture: MapPicture, column: number, row: number): string {
  const value = cellValue(picture, column, row);
  if (picture.view.field !== STATE_FIELD || !(value >= 0)) return valueText(picture, column, value);
  return sharesOfCell(value, cellShares(picture, column, row))
    .map(({ number, share }) => `${cellStateName(number)} ${formatPercent(share)}`)
    .join(", ");
}
