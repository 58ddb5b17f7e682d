/**
 * Feature `change`: the worker's comparison with the time before in, sentences and tables out. It
 * must not compute differences.
 */

import { useEffect, useRef } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { SmallMarker } from "../../chart/Marker";
import { CHART_THEMES, colourStyle } from "../../chart/palette";
import { windowClient } from "../../chart/zoom";
import { useLiveClient } from "../../stream/clients";
import { formatNumber, formatValue } from "../../stream/format";
import type { Change, ChangeView, TimeChange } from "../../stream/windowChange";
import { Button } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { useFacts } from "../facts/useFacts";
import styles from "./ChangePanel.module.css";
import { changeOpen } from "./CompareBefore";
import { changeSentences, changeText, ratioText, spansText } from "./changeText";

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
        <Button look="quiet" className={styles.close} onClick={() => changeOpen.set(false)}>
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
const MOST = 8;

function ChangeTable<T extends Change | TimeChange>({
  caption,
  rows,
  name,
  none,
}: ChangeTableProps<T>) {
  const client = useLiveClient();
  const colours = CHART_THEMES[useStore(theme)];
  const shown = rows.slice(0, MOST);
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
      {rows.length > MOST ? (
        <p className={styles.none}>{rows.length - MOST} more changed less.</p>
      ) : null}
    </section>
  );
}

function figureText({ unit }: Change, value: number): string {
  return unit === "threads" ? formatNumber(value, unit) : formatValue(value, unit);
}
