import { useRef } from "react";
import { READABLE_MS, useSelected, useThrottled } from "../../../base/useStore";
import { nounOf, sumsOthers } from "../../../charts/describe";
import { Marker } from "../../../charts/Marker";
import type { ChartTheme } from "../../../charts/palette";
import { lineStyle, stackStyle } from "../../../charts/palette";
import { counted, formatNumber, formatValue, shortenMiddle } from "../../../model/format";
import type { ChartId, Hover, ViewRequest } from "../../../model/viewRequest";
import type { ChartView, LineView } from "../../../model/views";
import { useLiveClient } from "../../clients";
import styles from "./ChartLegend.module.css";
import { useGlide, useSettledOrder } from "./useSettledOrder";

interface ChartLegendProps {
  readonly chart: ChartId;
  readonly theme: ChartTheme;
}

const keyOf = (hover: Hover) => hover.key;
const selectedOf = (view: ViewRequest) => view.selected;
const rankText = ({ rank_by, level, top_k }: ViewRequest) =>
  `${level} ${top_k} ${JSON.stringify(rank_by)}`;
const NO_HOVER = { t_s: null, key: null, chart: null };

/** The lines of a chart with their last values; a press selects the thread everywhere. */
export function ChartLegend({ chart, theme }: ChartLegendProps) {
  const client = useLiveClient();
  const view = useThrottled(client.chart(chart), READABLE_MS);
  const hovered = useSelected(client.hover, keyOf);
  const selected = useSelected(client.view, selectedOf);
  const list = useRef<HTMLUListElement>(null);
  const rank = useSelected(client.view, rankText);
  const entries = useSettledOrder(view?.state === "ok" ? entriesOf(view) : NONE, entryKey, rank);
  useGlide(list, entries.map(entryKey).join(" "));
  if (view === null || view.state !== "ok") {
    return <div className={styles.legend} />;
  }
  const styleOf = view.stacked ? stackStyle : lineStyle;
  const names = entries.map(([line, second]) => [line.variant_name, second?.variant_name])[0];
  const twins = twinsOf(entries.map(([line]) => line.name));
  const paired = names?.[1] !== undefined;
  return (
    <div className={`${styles.legend} ${paired ? styles.paired : ""}`}>
      {paired ? (
        <p className={styles.head}>
          <span className={styles.solid}>{names[0]}</span>
          <span className={styles.dashed}>{names[1]}</span>
        </p>
      ) : null}
      <ul ref={list}>
        {entries.map(([line, second]) => {
          const { key } = line;
          const looks = (
            <>
              <Marker style={styleOf(line, chart, theme)} />
              {line.kind === "others" ? (
                <span>{counted(view.others, "other")}</span>
              ) : (
                <Name
                  line={line}
                  withTid={twins.has(line.name)}
                  room={paired ? ROOM_PAIRED : ROOM}
                />
              )}
              <Last view={view} line={line} />
              {second === undefined ? null : <Last view={view} line={second} />}
            </>
          );
          return (
            <li key={entryKey([line, second])} data-key={key} data-entry={entryKey([line, second])}>
              {key === null ? (
                <span className={styles.entry}>{looks}</span>
              ) : (
                <button
                  type="button"
                  className={styles.entry}
                  title={`${line.name} ${line.tid ?? line.pid ?? ""}`}
                  aria-label={labelOf(view, line, second)}
                  aria-pressed={key === selected}
                  data-hovered={hovered === key}
                  onClick={() => client.select(key)}
                  onPointerEnter={() => client.hover.set({ ...NO_HOVER, key })}
                  onPointerLeave={() => client.hover.set(NO_HOVER)}
                >
                  {looks}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {view.others > 0 && !sumsOthers(view) ? (
        <p className={styles.more}>{nounOf(view.lines, view.others)}</p>
      ) : null}
    </div>
  );
}

/** Letters that an entry has room for: beside one value, beside two. */
const ROOM = 18;
const ROOM_PAIRED = 13;

interface NameProps {
  readonly line: LineView;
  readonly withTid: boolean;
  /** Letters. */
  readonly room: number;
}

/** The name of a line; beside a tid or pid, which is never cut, its middle gives way. */
function Name({ line, withTid, room }: NameProps) {
  const id = line.pid ?? (withTid ? line.tid : null);
  if (id === null) {
    return <span className={styles.name}>{line.name}</span>;
  }
  const tid = String(id);
  return (
    <span className={styles.name}>
      {shortenMiddle(line.name, room - 1 - tid.length)} <span className={styles.tid}>{tid}</span>
    </span>
  );
}

/** What a screen reader says: name, tid and last values. */
function labelOf(view: ChartView, line: LineView, second: LineView | undefined): string {
  const values = [line, second].flatMap((each) =>
    each === undefined ? [] : `${each.variant_name} ${formatValue(each.last, view.unit)}`.trim(),
  );
  return `${line.name} ${line.tid ?? line.pid ?? ""}: ${values.join(", ")}`;
}

function Last({ view, line }: { readonly view: ChartView; readonly line: LineView }) {
  const { last, last_low } = line;
  const from = last_low === undefined || last_low === last ? "" : formatNumber(last_low, view.unit);
  return (
    <span className={styles.value}>
      {from === "" ? "" : `${from} – `}
      {formatNumber(last, view.unit)}
    </span>
  );
}

/** Names that more than one has: only they need their thread id. */
function twinsOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, place) => names.indexOf(name) !== place));
}

type Entry = readonly [LineView, LineView | undefined];
const NONE: readonly Entry[] = [];

function entryKey([{ kind, key, name }]: Entry): string {
  return `${kind} ${key ?? name}`;
}

/** Lines, with the second one of a pair beside the first; a variant without a name is of no pair. */
function entriesOf(view: ChartView): readonly Entry[] {
  const partner = (line: LineView) =>
    view.lines.find(
      (other) =>
        other.variant === 1 &&
        other.variant_name !== "" &&
        other.kind === line.kind &&
        other.key === line.key,
    );
  return view.lines
    .filter((line) => line.variant === 0 || line.variant_name === "")
    .filter((line) => line.kind !== "others" || view.others > 0)
    .map((line) => [line, partner(line)]);
}
