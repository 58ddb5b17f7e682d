import { type ReactNode, useState } from "react";
import { localTime } from "../../base/clock";
import { type Moment, requestsHref } from "../../base/moment";
import { hasBackend } from "../../base/source";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES, type ChartTheme, partStyle } from "../../chart/palette";
import { partName, stateOf } from "../../stream/breakdown";
import { BUCKETS, lowerOf, upperOf } from "../../stream/facts/stayHistogram";
import { counted, formatDuration, formatValue } from "../../stream/format";
import type { LedgerRow, StaysView, ThreadView } from "../../stream/threadView";
import { PageLink, SegmentedControl } from "../../ui/Controls";
import { StacksLink } from "../stacks/Places";
import { Swatch } from "../times/TimesPanel";
import styles from "./ThreadDrawer.module.css";

interface ThreadPanelProps {
  /** The view, or null while loading. */
  readonly view: ThreadView | null;
  /** Additional facts. */
  readonly children?: ReactNode;
}

/** Activity of a thread: its ledger and the durations of its stays. */
export function ThreadPanel({ view, children }: ThreadPanelProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const [span, setSpan] = useState<"window" | "total">("window");
  if (view === null) {
    return <p className={styles.none}>Loading…</p>;
  }
  const { current, unswitched, end_s, reason } = view;
  return (
    <div className={styles.panel} data-thread={view.key}>
      <dl className={styles.facts}>
        <div>
          <dt>Role</dt>
          <dd>{view.role}</dd>
        </div>
        <div>
          <dt>{end_s === null ? "Age" : "Lifetime"}</dt>
          <dd>{formatDuration((end_s ?? view.total.t1_s) - view.start_s)}</dd>
        </div>
        <div>
          <dt>State</dt>
          <dd data-current={current?.part ?? "none"}>
            {current === null ? (
              end_s === null ? (
                "not known"
              ) : (
                "exited"
              )
            ) : (
              <>
                <Swatch part={current.part} theme={colours} /> {partName(current.part)}
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Since</dt>
          <dd>{sinceText(view)}</dd>
        </div>
      </dl>
      {unswitched ? (
        <p className={styles.note}>Not switched since attach: its state is what /proc says.</p>
      ) : null}
      {reason === "" ? (
        <>
          <section aria-label="Ledger">
            <header className={styles.threadPanelHead}>
              <h3>Ledger</h3>
              <SegmentedControl
                label="Time that the ledger is of"
                value={span}
                choices={[
                  { value: "window", label: "In view" },
                  { value: "total", label: "Since attach" },
                ]}
                onChange={setSpan}
              />
            </header>
            <LedgerTable view={view} span={span} theme={colours} />
          </section>
          <StayHistograms view={view} theme={colours} />
        </>
      ) : (
        <p className={styles.none}>No ledger: {reason}.</p>
      )}
      <p className={styles.note}>
        <StacksLink what={{ key: view.key, name: `${view.name} (${view.tid})` }} plain={null}>
          Stacks of this thread in this window
        </StacksLink>
      </p>
      {hasBackend() ? (
        <p className={styles.note}>
          <PageLink href={requestsHref(view.pid, momentOf(view))}>
            Requests that waited for this thread in this window
          </PageLink>
        </p>
      ) : null}
      {children}
    </div>
  );
}

function momentOf({ tid, from_s, to_s, attached_unix_ms }: ThreadView): Moment {
  const at = (t_s: number) => attached_unix_ms + 1000 * t_s;
  return { tid, from_ms: at(from_s), to_ms: at(to_s) };
}

function sinceText({ current, attached_unix_ms, unswitched, window }: ThreadView): string {
  if (current === null) {
    return "–";
  }
  const { since_s } = current;
  if (unswitched && since_s <= 0) {
    return "before attach";
  }
  const lasting = formatDuration(Math.max(0, window.t1_s - since_s));
  return `${localTime(attached_unix_ms + 1000 * since_s)} (${lasting})`;
}

interface LedgerTableProps {
  readonly view: ThreadView;
  readonly span: "window" | "total";
  readonly theme: ChartTheme;
}

/** The time of a thread in each state; the sum is compared with the clock. */
function LedgerTable({ view, span, theme }: LedgerTableProps) {
  const { sum_ns, wall_ns } = view[span];
  const which = span === "window" ? "window_ns" : "total_ns";
  return (
    <table className={styles.ledger} data-ledger={span}>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Seconds</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {view.rows.map((row) => (
          <tr key={row.part} data-part={row.part} data-idle={row.idle}>
            <th scope="row">
              <Swatch part={row.part} theme={theme} />
              <PartLink part={row.part} view={view} />
            </th>
            <td>{secondsText(row[which])}</td>
            <td>{formatValue(row[which] / (sum_ns || 1), "share")}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr data-sum={sum_ns}>
          <th scope="row">Sum</th>
          <td>{secondsText(sum_ns)}</td>
          <td />
        </tr>
        <tr data-wall={wall_ns}>
          <th scope="row">Wall time</th>
          <td>{secondsText(wall_ns)}</td>
          <td />
        </tr>
        <tr data-difference={sum_ns - wall_ns}>
          <th scope="row">Difference</th>
          <td colSpan={2} className={styles.difference}>
            {nanosecondsText(sum_ns - wall_ns)}
          </td>
        </tr>
      </tfoot>
    </table>
  );
}

interface PartLinkProps {
  readonly part: LedgerRow["part"];
  readonly view: ThreadView;
}

/** A state with the link to its stacks; the time in view, whatever the ledger shows. */
function PartLink({ part, view: { key, name, tid } }: PartLinkProps) {
  const states = stateOf(part) === undefined ? [] : [part];
  const what = { key, states, name: `${name} (${tid})` };
  return states.length === 0 ? (
    <span>{partName(part)}</span>
  ) : (
    <StacksLink what={what} title="Flame graph of this thread in this state" quiet>
      {partName(part)}
    </StacksLink>
  );
}

/** Rounded to whole microseconds, so that shown values add up. */
function secondsText(ns: number): string {
  return (ns / 1e9).toFixed(6);
}

function nanosecondsText(ns: number): string {
  const digits = Math.abs(Math.round(ns)).toLocaleString("en-US").replaceAll(",", "\u202f");
  return `${ns < 0 ? "−" : ""}${digits} ns`;
}

interface StayHistogramsProps {
  readonly view: ThreadView;
  readonly theme: ChartTheme;
}

/** Durations of a thread's stays in each state. */
function StayHistograms({ view, theme }: StayHistogramsProps) {
  const shown = view.rows.filter((row) => row.stays !== null);
  return (
    <section aria-label="Lengths of stays">
      <h3>Lengths of stays</h3>
      <p className={styles.stayHistogramsNote}>
        Stays that ended in view, in buckets of powers of two; percentiles are interpolated within
        their bucket.
      </p>
      {shown.length === 0 ? <p className={styles.stayHistogramsNote}>None ended in view.</p> : null}
      <ul className={styles.list}>
        {shown.map((row) =>
          row.stays === null ? null : (
            <Histogram key={row.part} row={row} stays={row.stays} theme={theme} />
          ),
        )}
      </ul>
    </section>
  );
}

interface HistogramProps {
  readonly row: LedgerRow;
  readonly stays: StaysView;
  readonly theme: ChartTheme;
}

/** Ticks of the axis: the bucket that begins at about this length. */
const TICKS = [
  [1, "1 µs"],
  [11, "1 ms"],
  [21, "1 s"],
] as const;

const PLACES: readonly number[] = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

function Histogram({ row, stays, theme }: HistogramProps) {
  const { buckets, count, p50_s, p95_s, p99_s } = stays;
  const most = buckets.reduce((a, b) => Math.max(a, b), 0);
  const { colour } = partStyle(row.part, theme);
  const percentiles = [
    ["p50", p50_s],
    ["p95", p95_s],
    ["p99", p99_s],
  ] as const;
  return (
    <li data-stays={row.part}>
      <p className={styles.title}>
        <span>{partName(row.part)}</span>
        <span className={styles.count}>{counted(count, "stay")}</span>
      </p>
      <div className={styles.bars} role="img" aria-label={bucketsText(buckets)}>
        {PLACES.map((bucket) => {
          const value = buckets[bucket] ?? 0;
          return (
            <span
              key={bucket}
              className={styles.bucket}
              title={value > 0 ? `${rangeText(bucket)}: ${value}` : undefined}
            >
              <span
                className={styles.bar}
                style={{
                  height: value > 0 ? `${Math.max(4, (100 * value) / most)}%` : 0,
                  background: colour,
                }}
              />
            </span>
          );
        })}
      </div>
      <div className={styles.axis} aria-hidden="true">
        {TICKS.map(([bucket, label]) => (
          <span key={label} style={{ left: `${(100 * bucket) / BUCKETS}%` }}>
            {label}
          </span>
        ))}
      </div>
      <dl className={styles.percentiles}>
        {percentiles.map(([name, seconds]) => (
          <div key={name} data-percentile={name}>
            <dt>{name}</dt>
            <dd>{formatValue(seconds, "s")}</dd>
          </div>
        ))}
      </dl>
    </li>
  );
}

function rangeText(bucket: number): string {
  const lower = formatValue(lowerOf(bucket), "s");
  const upper = upperOf(bucket);
  return Number.isFinite(upper) ? `${lower} to ${formatValue(upper, "s")}` : `${lower} and longer`;
}

/** Nonempty buckets, for screen readers. */
function bucketsText(buckets: Float64Array): string {
  return Array.from(buckets, (value, bucket) => (value > 0 ? `${rangeText(bucket)}: ${value}` : ""))
    .filter(Boolean)
    .join(", ");
}
