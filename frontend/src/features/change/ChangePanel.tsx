/**
 * Feature `change`: the worker's comparison with the time before in, sentences and tables out. It
 * must not compute differences. Changes in sentences. Pure.
 */

import { useEffect, useRef } from "react";
import { createStore } from "../../base/store";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { SmallMarker } from "../../chart/Marker";
import { CHART_THEMES, colourStyle } from "../../chart/palette";
import { windowClient } from "../../chart/zoom";
import { useLiveClient } from "../../stream/client";
import { formatDuration, formatNumber, formatValue } from "../../stream/format";
import type { Change, ChangeView, Reason, TimeChange } from "../../stream/windowChange";
import { Button } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { useFacts } from "../facts/FactColumns";
import styles from "./ChangePanel.module.css";

/** Toggle button for the comparison of the visible window with the time before. */
export function CompareBefore({ seconds }: { readonly seconds: number }) {
  const open = useStore(changeOpen);
  return (
    <Button
      className={styles.compare}
      aria-pressed={open}
      aria-keyshortcuts="b"
      title="What changed, by role and reason (b)"
      onClick={() => changeOpen.set(!open)}
    >
      Compare with the {wordsOf(seconds)} before
    </Button>
  );
}

/** "1 min" instead of "1 min 00 s": these windows are chosen by minutes. */
function wordsOf(seconds: number): string {
  return formatDuration(seconds).replace(/ 00 (s|min)$/, "");
}

/** Whether the panel of changes is open. */
const changeOpen = createStore(false);

/** Toggle the panel of changes, if the page has charts. */
export function compareBefore(): void {
  if (windowClient.get() !== null) changeOpen.set(!changeOpen.get());
}

/** Activity of threads by category: "1.20 threads of worker-# waited for locks". */
const DID: Readonly<Record<Reason, string>> = {
  running: "ran",
  runnable: "were ready and had no CPU",
  throttled: "were throttled by a CPU limit",
  locks: "waited for locks",
  disk: "waited for disk and files",
  network: "waited for the network",
  pipes: "waited for pipes and signals",
  faults: "waited in page faults",
  other: "waited for something else",
  parked: "were parked",
  polling: "polled",
  sleep: "slept",
  unsplit: "did something that is not measured",
};

/** Idle categories, which mirror all other changes. */
const IDLE: readonly Reason[] = ["parked", "polling", "sleep", "unsplit"];

const MAX_SENTENCES = 3;

/** The largest changes in the time breakdown; idle categories only if there is no other. */
export function changeSentences({ times }: ChangeView): readonly string[] {
  const active = times.filter(({ reason }) => !IDLE.includes(reason));
  return (active.length > 0 ? active : times).slice(0, MAX_SENTENCES).map(timeSentence);
}

/** "1.37 threads of worker-# waited for locks on average, 0.120 before." */
function timeSentence({ role, reason, before, after }: TimeChange): string {
  const was = before === 0 ? "none before" : `${formatNumber(before, "threads")} before`;
  if (after === 0) {
    const from = formatNumber(before, "threads");
    return `No thread of ${role} ${DID[reason].replace(/^were/, "was")}, ${from} before.`;
  }
  return `${formatNumber(after, "threads")} threads of ${role} ${DID[reason]} on average, ${was}.`;
}

/** "+1.25", "−340 KiB/s". */
export function changeText({ before, after, unit }: Change): string {
  const size = Math.abs(after - before);
  const text = unit === "threads" ? formatNumber(size, unit) : formatValue(size, unit);
  return `${after < before ? "−" : "+"}${text}`;
}

/** Ratio of the values: "3.2 ×"; "new" or "gone" if one of them is zero. */
export function ratioText({ before, after }: Change): string {
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const ratio = after / before;
  return `${formatNumber(ratio, "threads")} ×`;
}

/** The compared spans: "the last 1 min 00 s in view, and the 32.0 s before". */
export function spansText({ before, after }: ChangeView): string {
  const seconds = ({ t0_s, t1_s }: ChangeView["after"]) => t1_s - t0_s;
  const [was, is] = [seconds(before), seconds(after)];
  const less = was < 0.95 * is ? ", which is all that is known" : "";
  return `The ${formatDuration(is)} in view against the ${formatDuration(was)} before${less}.`;
}

/** Panel of changes relative to the time before the window, on request. */
export function ChangePanel() {
  const client = useLiveClient();
  const open = useStore(changeOpen);
  useEffect(() => {
    windowClient.set(client);
    return () => {
      windowClient.set(null);
      changeOpen.set(false);
    };
  }, [client]);
  return open ? <OpenPanel /> : null;
}

function OpenPanel() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("change", place);
  useEffect(() => {
    // The button that opened the panel may be far below.
    place.current?.scrollIntoView({ block: "nearest" });
    place.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Panel
      title="What changed"
      note={view?.state === "ok" ? spansText(view) : ""}
      data-panel="change"
      controls={
        <Button variant="quiet" className={styles.close} onClick={() => changeOpen.set(false)}>
          Close
        </Button>
      }
    >
      <div ref={place} className={styles.body} tabIndex={-1} data-state={view?.state ?? "waiting"}>
        {view === null ? (
          <p className={styles.none}>Comparing…</p>
        ) : view.state === "waiting" ? (
          <p className={styles.none}>{view.reason}</p>
        ) : (
          <Changes view={view} />
        )}
      </div>
    </Panel>
  );
}

function Changes({ view }: { readonly view: ChangeView }) {
  const sentences = changeSentences(view);
  const { times, figures } = view;
  return (
    <>
      {sentences.length === 0 ? (
        <p className={styles.none}>Threads spent their time as before, in each role.</p>
      ) : (
        <ul className={styles.sentences}>
          {sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      <div className={styles.tables}>
        <ChangeTable
          caption="Where the time goes: threads on average, largest change first"
          rows={times}
          name={({ label }) => label}
          none="No role spends its time in another way."
        />
        <ChangeTable
          caption="Bytes, switches and threads, largest change in relation first"
          rows={figures}
          name={({ label }) => label}
          none="No figure changed by 5 % or more."
        />
      </div>
    </>
  );
}

interface ChangeTableProps<T extends Change> {
  readonly caption: string;
  readonly rows: readonly T[];
  readonly name: (row: T) => string;
  readonly none: string;
}

/** Maximum number of rows, largest changes first. */
const MAX_ROWS = 8;

function ChangeTable<T extends Change | TimeChange>({
  caption,
  rows,
  name,
  none,
}: ChangeTableProps<T>) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const shown = rows.slice(0, MAX_ROWS);
  return (
    <section className={styles.scroll} aria-label={caption}>
      <table className={styles.table}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Role</th>
            <th scope="col">What</th>
            <th scope="col">Before</th>
            <th scope="col">Now</th>
            <th scope="col">Change</th>
            <th scope="col">Ratio</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={`${row.key} ${name(row)}`} data-role={row.role}>
              <th scope="row">
                <button type="button" onClick={() => client.request({ selected: row.key })}>
                  <SmallMarker style={colourStyle(row.colour, colours)} /> {row.role}
                </button>
              </th>
              <td>{name(row)}</td>
              <td className={styles.number}>{figureText(row, row.before)}</td>
              <td className={styles.number}>{figureText(row, row.after)}</td>
              <td className={styles.number}>
                <span aria-hidden="true">{row.after > row.before ? "▲" : "▼"}</span>{" "}
                {changeText(row)}
              </td>
              <td className={styles.number}>{ratioText(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 ? <p className={styles.none}>{none}</p> : null}
      {rows.length > MAX_ROWS ? (
        <p className={styles.none}>{rows.length - MAX_ROWS} more changed less.</p>
      ) : null}
    </section>
  );
}

function figureText({ unit }: Change, value: number): string {
  return unit === "threads" ? formatNumber(value, unit) : formatValue(value, unit);
}
