import { type ReactNode, useState } from "react";
import { localTime } from "../../base/clock";
import { type Moment, requestsHref } from "../../base/moment";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import { formatDuration } from "../../stream/format";
import type { ThreadView } from "../../stream/threadView";
import { partName } from "../../stream/timeParts";
import { PageLink } from "../../ui/PageLink";
import { SegmentedControl } from "../../ui/SegmentedControl";
import { Swatch } from "../times/Swatch";
import { LedgerTable } from "./LedgerTable";
import { StayHistograms } from "./StayHistograms";
import styles from "./ThreadPanel.module.css";

interface ThreadPanelProps {
  /** Null: on its way. */
  readonly view: ThreadView | null;
  /** What else there is to know of it. */
  readonly children?: ReactNode;
}

/** What a thread does, and did: its ledger and the lengths of its stays. */
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
            <header className={styles.head}>
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
        <PageLink href={requestsHref(view.pid, momentOf(view))}>
          Requests that waited for this thread in this window
        </PageLink>
      </p>
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
