import { type RefObject, useLayoutEffect, useRef } from "react";
import { READABLE_MS, useMedia, useSelected, useThrottled } from "../../base/useStore";
import { nounOf, sumsOthers } from "../../chart/describe";
import { endsOf, placeApart } from "../../chart/endLabels";
import { Marker } from "../../chart/Marker";
import { type ChartTheme, lineStyle, stackStyle } from "../../chart/palette";
import { MARGIN, type Plot } from "../../chart/plot";
import type { ChartEnds } from "../../chart/TimeChart";
import { useLiveClient } from "../../stream/client";
import { counted, formatNumber, formatValue } from "../../stream/format";
import type { ChartId, Hover, ViewRequest } from "../../stream/viewRequest";
import type { ChartView, LineView } from "../../stream/views";
import { Middle } from "../../ui/Middle";
import styles from "./ChartLegend.module.css";

/** Minimum time between reorderings of entries, in ms. */
const SETTLED_MS = 5000;
/** Maximum time for a requested order to arrive, in ms. */
const ASKED_MS = 1500;
const MOVE_MS = 250;

/** An order, its start, and the last request. */
interface Kept {
  readonly keys: readonly string[];
  readonly at_ms: number;
  readonly asked: string;
  readonly asked_ms: number;
}

/**
 * Entries in an order that seldom changes; new ones are appended until the next reordering.
 * @param ranked Entries in the preferred order.
 * @param asked Changes when the user requests another order, which takes effect at once.
 */
function useSettledOrder<T>(
  ranked: readonly T[],
  keyOf: (each: T) => string,
  asked: string,
): readonly T[] {
  const kept = useRef<Kept>({ keys: [], at_ms: 0, asked, asked_ms: Number.NEGATIVE_INFINITY });
  const wanted = ranked.map(keyOf);
  const now_ms = performance.now();
  const before =
    kept.current.asked === asked ? kept.current : { ...kept.current, asked, asked_ms: now_ms };
  const free = before.keys.length === 0 || now_ms - before.asked_ms < ASKED_MS;
  if (free || now_ms - before.at_ms >= SETTLED_MS) {
    const same = wanted.join("\n") === before.keys.join("\n");
    kept.current = { ...before, keys: wanted, at_ms: same ? before.at_ms : now_ms };
    return ranked;
  }
  const stay = before.keys.filter((key) => wanted.includes(key));
  const keys = [...stay, ...wanted.filter((key) => !stay.includes(key))];
  kept.current = { ...before, keys };
  const places = new Map(keys.map((key, place) => [key, place]));
  const placeOf = (each: T) => places.get(keyOf(each)) ?? 0;
  return ranked.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Animate entries of a list to their new places, unless reduced motion is preferred. */
function useGlide(list: RefObject<HTMLElement | null>, order: string): void {
  const still = useMedia("(prefers-reduced-motion: reduce)");
  const measured = useRef({ order: "", tops: new Map<string, number>() });
  useLayoutEffect(() => {
    // Places change only with the order.
    if (measured.current.order === order) return;
    const before = measured.current.tops;
    const now = new Map<string, number>();
    for (const entry of list.current?.querySelectorAll<HTMLElement>("[data-entry]") ?? []) {
      const key = entry.dataset.entry ?? "";
      const top = entry.offsetTop;
      now.set(key, top);
      const moved = (before.get(key) ?? top) - top;
      if (moved === 0 || still || entry.animate === undefined) continue;
      const from = { transform: `translateY(${moved}px)` };
      entry.animate([from, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
    }
    measured.current = { order, tops: now };
  }, [list, order, still]);
}

interface ChartLegendProps {
  readonly chart: ChartId;
  readonly theme: ChartTheme;
  readonly ends: ChartEnds;
  /** Height of the chart, in CSS pixels. */
  readonly height: number;
}

const keyOf = (hover: Hover) => hover.key;
const selectedOf = (view: ViewRequest) => view.selected;
const rankText = ({ rank_by, level, top_k, window }: ViewRequest) =>
  `${level} ${top_k} ${JSON.stringify([rank_by, window])}`;
const NO_HOVER = { t_s: null, key: null, chart: null };
/** Media query for labels beside the charts; narrower pages have legends below. */
const BESIDE = "(width > 640px)";

/**
 * The lines of a chart with their last values, at the line ends if they fit; a press selects the
 * thread everywhere.
 */
export function ChartLegend({ chart, theme, ends, height }: ChartLegendProps) {
  const client = useLiveClient();
  const view = useThrottled(client.chart(chart), READABLE_MS);
  const hovered = useSelected(client.hover, keyOf);
  const selected = useSelected(client.view, selectedOf);
  const list = useRef<HTMLUListElement>(null);
  const rank = useSelected(client.view, rankText);
  const entries = useSettledOrder(view?.state === "ok" ? entriesOf(view) : NONE, entryKey, rank);
  const paired = entries[0]?.[1] !== undefined;
  const beside = useMedia(BESIDE) && !paired;
  const asked = `${rank} ${view?.opened?.key}`;
  const plot = beside ? ends.plot.get() : null;
  const labels = useEndLabels(view, entries, lineOfEntry, entryKey, plot, height, asked);
  useGlide(list, entries.map(entryKey).join(" "));
  const { labelled } = ends;
  useLayoutEffect(() => labelled.set(labels !== null), [labelled, labels]);
  if (view === null || view.state !== "ok") {
    return <div className={styles.legend} />;
  }
  const styleOf = view.stacked ? stackStyle : lineStyle;
  const names = entries.map(([line, second]) => [line.variant_name, second?.variant_name])[0];
  const twins = twinsOf(entries.map(([line]) => line.name));
  const places = new Map(labels?.map(({ of, y }) => [entryKey(of), y]));
  return (
    <div
      className={`${styles.legend} ${paired ? styles.paired : ""}`}
      data-labels={labels === null ? "beside" : "ends"}
    >
      {labels === null ? null : <Leaders labels={labels} {...{ chart, theme, height, styleOf }} />}
      {paired ? (
        <p className={styles.head}>
          <span className={styles.solid}>{names?.[0]}</span>
          <span className={styles.dashed}>{names?.[1]}</span>
        </p>
      ) : null}
      <ul ref={list}>
        {entries.map(([line, second]) => {
          const { key } = line;
          const y = places.get(entryKey([line, second]));
          const swatch = (
            <>
              <Marker style={styleOf(line, chart, theme)} />
              {line.kind === "others" ? (
                <span>{counted(view.others, "other")}</span>
              ) : (
                <Name line={line} withTid={twins.has(line.name)} />
              )}{" "}
              <Last view={view} line={line} />{" "}
              {second === undefined ? null : <Last view={view} line={second} />}
            </>
          );
          return (
            <li
              key={entryKey([line, second])}
              data-key={key}
              data-entry={entryKey([line, second])}
              style={
                y === undefined ? undefined : { transform: `translateY(${y - LABEL_PX / 2}px)` }
              }
            >
              {key === null ? (
                <span className={styles.entry}>{swatch}</span>
              ) : (
                <button
                  type="button"
                  className={styles.entry}
                  title={inWords(view, line, second)}
                  aria-pressed={key === selected}
                  data-hovered={hovered === key}
                  onClick={() => client.select(key)}
                  onPointerEnter={() => client.hover.set({ ...NO_HOVER, key })}
                  onPointerLeave={() => client.hover.set(NO_HOVER)}
                >
                  {swatch}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {view.others > 0 && !sumsOthers(view) && labels === null ? (
        <p className={styles.more}>{nounOf(view.lines, view.others)}</p>
      ) : null}
    </div>
  );
}

interface LeadersProps {
  readonly labels: readonly EndLabel<Entry>[];
  readonly chart: ChartId;
  readonly theme: ChartTheme;
  readonly height: number;
  readonly styleOf: typeof lineStyle;
}

/** Leader lines from line ends to labels. */
function Leaders({ labels, chart, theme, height, styleOf }: LeadersProps) {
  return (
    <svg className={styles.leaders} width={LEADER_PX} height={height} aria-hidden="true">
      {labels.map(({ of, end, y }) => (
        <path
          key={entryKey(of)}
          d={`M0,${end}C${LEADER_PX / 2},${end},${LEADER_PX / 2},${y},${LEADER_PX},${y}`}
          fill="none"
          stroke={styleOf(of[0], chart, theme).colour}
        />
      ))}
    </svg>
  );
}

interface NameProps {
  readonly line: LineView;
  readonly withTid: boolean;
}

/** The name of a line, shortened in its middle; a tid or pid is never cut. */
function Name({ line, withTid }: NameProps) {
  const id = line.pid ?? (withTid ? line.tid : null);
  return (
    <span className={styles.name}>
      <Middle text={line.name} />
      {id === null ? null : <span className={styles.tid}> {id}</span>}
    </span>
  );
}

/** Name, tid and last values with units. */
function inWords(view: ChartView, line: LineView, second: LineView | undefined): string {
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

/** Ambiguous names, which need a thread ID. */
function twinsOf(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.filter((name, place) => names.indexOf(name) !== place));
}

type Entry = readonly [LineView, LineView | undefined];
const NONE: readonly Entry[] = [];

function lineOfEntry([line]: Entry): LineView {
  return line;
}

function entryKey([{ kind, key, name }]: Entry): string {
  return `${kind} ${key ?? name}`;
}

/**
 * Entries for lines, with both lines of a pair in one entry; a variant without a name has no pair.
 */
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

/** Height of a label: the minimum of a pointer target. */
const LABEL_PX = 24;
/** Minimum movement of a line end that moves labels, in CSS pixels. */
const CALM_PX = 5;
/**
 * Minimum plot width for labels at line ends, in CSS pixels; narrower plots have a legend below.
 */
const MIN_PLOT_PX = 240;
/** Time after which labels without room are tried again, in ms. */
const HELD_MS = 5000;

/** A label, and its line's end, in CSS pixels from the top of the chart. */
interface EndLabel<T> {
  readonly of: T;
  readonly end: number;
  readonly y: number;
}

/**
 * Positions of labels at line ends, in an order that seldom changes. Null, which requires a legend,
 * if they do not fit or a line has no end at the right edge.
 * @param lineOf Labelled line of an entry.
 * @param height Height of the chart, CSS pixels.
 * @param asked Changes with the user's request.
 */
function useEndLabels<T>(
  view: ChartView | null,
  entries: readonly T[],
  lineOf: (entry: T) => LineView,
  keyOf: (entry: T) => string,
  plot: Plot | null,
  height: number,
  asked: string,
): readonly EndLabel<T>[] | null {
  const calm = useRef(new Map<string, number>());
  const shown = useRef({ asked, left_ms: Number.NEGATIVE_INFINITY, now: false });
  const found = findEnds(view, entries.map(lineOf), plot);
  const ended = entries.map((entry, place) => ({ entry, end: found?.[place] ?? 0 }));
  const ordered = useSettledOrder(
    ended.toSorted((a, b) => a.end - b.end),
    ({ entry }) => keyOf(entry),
    `${asked} ${found === null}`,
  );
  const wanted = ordered.map(({ entry, end }) => {
    const before = calm.current.get(keyOf(entry)) ?? Number.NaN;
    return Math.abs(end - before) < CALM_PX ? before : end;
  });
  const half = LABEL_PX / 2;
  const places = found && placeApart(wanted, LABEL_PX, [half, height - half]);
  const now_ms = performance.now();
  const before = shown.current;
  const left_ms = before.asked === asked ? before.left_ms : Number.NEGATIVE_INFINITY;
  if (!places || now_ms - left_ms < HELD_MS) {
    shown.current = { asked, left_ms: before.now ? now_ms : left_ms, now: false };
    return null;
  }
  shown.current = { asked, left_ms, now: true };
  calm.current = new Map(ordered.map(({ entry }, n) => [keyOf(entry), wanted[n] ?? 0]));
  return ordered.map(({ entry, end }, n) => ({ of: entry, end, y: places[n] ?? end }));
}

function findEnds(
  view: ChartView | null,
  lines: readonly LineView[],
  plot: Plot | null,
): readonly number[] | null {
  if (!view || !plot || plot.width < MIN_PLOT_PX || lines.length === 0) return null;
  return endsOf(view, lines, plot);
}

/** Distance from line ends to labels, in CSS pixels. */
const LEADER_PX = MARGIN.right - 6;
