/**
 * Feature `times`: the worker's time breakdown in, a stacked chart and bars by role out. It must
 * not compute shares of threads.
 */

import { useEffect, useRef, useState } from "react";
import { foldIdle, idleFolded } from "../../base/idleFold";
import { theme } from "../../base/theme";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { naturesOf, sharesOf } from "../../chart/describe";
import { Marker } from "../../chart/Marker";
import { CHART_THEMES, type ChartTheme, colourStyle, partStyle } from "../../chart/palette";
import { TimeChart } from "../../chart/TimeChart";
import { useVisibility } from "../../chart/useResize";
import { type Part, partName, stateOf, TIME_PARTS, type TimePart } from "../../stream/breakdown";
import { useLiveClient } from "../../stream/client";
import { counted, fieldNamed, formatNumber, formatValue, NO_VALUE } from "../../stream/format";
import { kindNamed, type StateKind } from "../../stream/states";
import type { ThreadKey } from "../../stream/viewRequest";
import type { ChartView, TimesRow, TimesView } from "../../stream/views";
import { Button, Checkbox } from "../../ui/Controls";
import { Middle } from "../../ui/Middle";
import { Panel, scrollable } from "../../ui/Panel";
import { ChartFrame, ChartTable, useChartInputs } from "../charts/ChartPanel";
import { StacksLink } from "../stacks/Places";
import styles from "./TimesPanel.module.css";

/** CSS fill of a part of time, equal to the chart's bands. */
function partFill(part: TimePart, theme: ChartTheme): string {
  const { colour, opacity, striped } = partStyle(part, theme);
  const plain = `color-mix(in srgb, ${colour} ${100 * opacity}%, transparent)`;
  if (!striped) {
    return plain;
  }
  const strong = `color-mix(in srgb, ${colour} ${Math.min(100, 300 * opacity)}%, transparent)`;
  return `repeating-linear-gradient(135deg, ${strong} 0 1.5px, ${plain} 1.5px 6px)`;
}

/** Sample of a part's fill, for legends. */
export function Swatch({ part, theme }: { readonly part: TimePart; readonly theme: ChartTheme }) {
  return (
    <span
      aria-hidden="true"
      style={{
        display: "inline-block",
        width: "1rem",
        height: "0.75rem",
        background: partFill(part, theme),
      }}
    />
  );
}

const TITLE = "Where the time goes";
const HEIGHT_PX = 220;
/** Number of roles shown initially. */
const FEW = 6;

/** Time breakdown: stacked shares over time, and a bar per role. */
export function TimesPanel() {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const inputs = useChartInputs("times");
  const view = useThrottled(client.chart("times"), READABLE_MS);
  const times = view?.state === "ok" ? view.times : undefined;
  const folded = useStore(idleFolded);
  const reading = useStore(client.reading)?.state === "loading";
  useEffect(() => client.request({ fold_idle: folded }), [client, folded]);
  return (
    <Panel
      title={TITLE}
      note={folded && times?.ledger ? "share of the time that is not idle" : "share of thread time"}
      controls={times === undefined ? null : <Controls times={times} folded={folded} />}
      data-panel="times"
      table={<ChartTable chart="times" title={TITLE} />}
    >
      <div className={styles.body}>
        <ChartFrame message={times === undefined ? emptyText(view, reading) : null}>
          <TimeChart {...inputs} theme={colours} title={TITLE} height={HEIGHT_PX} />
        </ChartFrame>
        {times === undefined ? <div /> : <PartList times={times} theme={colours} />}
      </div>
      {times === undefined ? null : <Roles times={times} theme={colours} />}
    </Panel>
  );
}

function emptyText(view: ChartView | null, reading: boolean): string {
  if (view?.state === "absent") return view.reason;
  return reading ? "Reading the run…" : "Not enough samples.";
}

interface ControlsProps {
  readonly times: TimesView;
  readonly folded: boolean;
}

/** Scope of the chart, and the switch for idle time. */
function Controls({ times, folded }: ControlsProps) {
  const { ledger, whole } = times;
  return (
    <>
      <Scope times={times} />
      {ledger ? (
        <span className={styles.fold}>
          <span className={`note ${styles.folded}`}>
            {folded ? `${formatValue(whole.folded_s, "s")} of idle time folded away` : ""}
          </span>
          <Checkbox label="Fold idle time away" checked={folded} onChange={foldIdle} />
        </span>
      ) : null}
    </>
  );
}

/** Scope of the chart, with a return to everything. */
function Scope({ times }: { readonly times: TimesView }) {
  const client = useLiveClient();
  return (
    <span className={`note ${styles.scope}`} data-scope={times.scope}>
      of <strong>{times.name}</strong>
      {times.scope === "process" ? null : (
        <Button onClick={() => client.select(null)}>Show all</Button>
      )}
    </span>
  );
}

function Roles({ times, theme: colours }: { times: TimesView; theme: ChartTheme }) {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const [all, setAll] = useState(false);
  // The bars use the chart's view, and can be visible when the chart is not.
  const inView = useVisibility(place);
  useEffect(() => client.mountChart("times", 1, inView), [client, inView]);
  const selected = useStore(client.view).selected;
  const shown = all ? times.roles : times.roles.slice(0, FEW);
  const more = times.roles.length - FEW;
  return (
    <div ref={place} className={styles.roles}>
      <ul aria-label="By role">
        {shown.map((row) => (
          <RoleBar
            key={row.key}
            row={row}
            theme={colours}
            selected={row.key === selected}
            onSelect={client.select}
          />
        ))}
      </ul>
      {more > 0 ? (
        <Button onClick={() => setAll(!all)}>
          {all ? "Fewer roles" : counted(more, "more role")}
        </Button>
      ) : null}
    </div>
  );
}

interface RoleBarProps {
  readonly row: TimesRow;
  readonly theme: ChartTheme;
  readonly selected: boolean;
  readonly onSelect: (key: ThreadKey) => void;
}

/** Time breakdown of a role as one bar; a press selects the role everywhere. */
function RoleBar({ row, theme, selected, onSelect }: RoleBarProps) {
  const { parts, wall_s } = row;
  const shown = TIME_PARTS.filter((part) => parts[part] > 0);
  return (
    <li data-role={row.name}>
      <button
        type="button"
        className={styles.role}
        aria-pressed={selected}
        title={`${sharesOf(row)} of ${formatValue(wall_s, "s")} of thread time`}
        onClick={() => onSelect(row.key)}
      >
        <Marker style={colourStyle(row.colour, theme)} />
        <span className={styles.roleName}>
          <Middle text={row.name} />
        </span>
        <span className={styles.count}>×{row.threads}</span>
        <span className={styles.bar} aria-hidden="true">
          {shown.map((part) => (
            <span
              key={part}
              data-part={part}
              title={`${partName(part)} ${formatValue(parts[part] / wall_s, "share")}`}
              // Factors whose sum is below 1 would leave a part of the bar empty.
              style={{ flexGrow: (100 * parts[part]) / wall_s, background: partFill(part, theme) }}
            />
          ))}
        </span>
        <span className={styles.words}>{naturesOf(row)}</span>
      </button>
      <StacksLink what={{ key: row.key }} title={`Flame graph of ${row.name}`} plain={null}>
        Stacks
      </StacksLink>
    </li>
  );
}

const MEANINGS: Readonly<Record<Part, string>> = {
  cpu: "On a CPU, in the program or in the kernel on its behalf.",
  queue: "Runnable, waiting for a CPU.",
  blkio: "Waiting for synchronous block I/O.",
  swapin: "Reading pages back from swap.",
  memory: "Thrashing, reclaim, compaction and page copies.",
  irq: "CPU time taken from the thread by interrupts.",
  unsplit:
    "Remaining time of threads without delay accounting; may include block I/O, swap and memory delays.",
  rest: "Remaining time, derived: sleeping, or waiting for a lock, a socket or a timer.",
};

const KINDS: Readonly<Record<StateKind, string>> = {
  parked:
    "In futex(2) at a condition, or where workers of its runtime park: for work, or for somebody. By the thread's share of waits there.",
  held: "Polls until another thread of its role wakes it, such as PostgreSQL's at a row that another one has. By the thread's share of waits that end so.",
};

/** Parts from the top of the stack to its bottom, as in the chart. */
const ORDER = [...TIME_PARTS].reverse();

function meaningOf(part: TimePart): string {
  const kind = kindNamed(part);
  if (kind) return KINDS[kind.kind];
  const state = stateOf(part);
  return state === undefined ? MEANINGS[part as Part] : (fieldNamed(state.field)?.meaning ?? "");
}

/** Legend: each part with its share and seconds in the window; missing parts with the reason. */
function PartList({ times, theme }: { times: TimesView; theme: ChartTheme }) {
  const { whole, absent, ledger, no_ledger } = times;
  const selected = useStore(useLiveClient().view).selected;
  const key = times.scope === "process" ? null : selected;
  const lacking = new Set(absent.map(({ part }) => part));
  const shown = ORDER.filter((part) =>
    part === "rest" || part === "unsplit"
      ? whole.parts[part] > 0
      : lacking.has(part) || !Number.isNaN(whole.parts[part]),
  );
  return (
    <div className={styles.legend} {...scrollable("Parts and their shares")}>
      <table className={styles.parts} aria-label={`Where the time of ${times.name} goes`}>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Share</th>
            <th scope="col">Seconds</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((part) => {
            const seconds = whole.parts[part];
            const there = !Number.isNaN(seconds);
            return (
              <tr key={part} data-part={part} data-available={there} title={meaningOf(part)}>
                <th scope="row">
                  <Swatch part={there ? part : "unsplit"} theme={theme} />
                  {there && stateOf(part) !== undefined ? (
                    <StacksLink
                      what={{ key, states: [part] }}
                      title="Flame graph of this part"
                      quiet
                    >
                      {partName(part)}
                    </StacksLink>
                  ) : (
                    <span>{partName(part)}</span>
                  )}
                </th>
                {there ? (
                  <>
                    <td>{formatValue(seconds / (whole.wall_s || 1), "share")}</td>
                    <td>{formatNumber(seconds, "s")}</td>
                  </>
                ) : (
                  <td colSpan={2} className={styles.none}>
                    {NO_VALUE} not available
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {reasonsOf(times).map(([reason, parts]) => (
        <p key={reason} className={styles.reason} data-reason={parts[0]}>
          <strong>{parts.map(partName).join(", ")}:</strong> {reason}.
        </p>
      ))}
      {ledger || no_ledger === null ? null : (
        <p className={styles.reason} data-reason="ledger">
          <strong>Reasons of waits:</strong> {no_ledger}.
        </p>
      )}
    </div>
  );
}

/** Group missing parts by reason. */
function reasonsOf({ absent }: TimesView): readonly (readonly [string, readonly TimePart[]])[] {
  const reasons = new Map<string, TimePart[]>();
  for (const { part, reason } of absent) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), part]);
  }
  return [...reasons];
}
