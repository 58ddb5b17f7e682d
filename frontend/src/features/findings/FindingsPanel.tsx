/**
 * Feature `findings`: the worker's findings in, sentences with links to panels out. It must not
 * evaluate rules.
 */

import { memo, useId, useRef, useState } from "react";
import { localTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { useResize } from "../../chart/useResize";
import { type LiveClient, useLiveClient } from "../../stream/client";
import type { Finding, FindingLink, When } from "../../stream/findings/finding";
import type { FindingsView } from "../../stream/findings/findings";
import { counted, formatDuration } from "../../stream/format";
import { Button } from "../../ui/Controls";
import { goToPanel } from "../arrange/tabs";
import { ChangePanel } from "../change/ChangePanel";
import { useFacts } from "../facts/FactColumns";
import { lockCode, StacksLink, usePlaces } from "../stacks/Places";
import styles from "./FindingsPanel.module.css";

/** Minimum width of a card for several in a row, in CSS pixels. */
const ROOM_PX = 380;
const MAX_BESIDE = 4;

/**
 * Findings in the visible window as cards, each with a link to its data. Collapsed to one row of a
 * fixed height, so that changes move nothing below. Expanded: all findings with thresholds, and the
 * changes against the time before.
 */
export const FindingsPanel = memo(function FindingsPanel() {
  return (
    <>
      <Findings />
      <ChangePanel />
    </>
  );
});

function Findings() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("findings", place);
  const room = Math.floor(useResize(place) / ROOM_PX);
  const [open, setOpen] = useState(false);
  const id = useId();
  const findings = view?.findings ?? [];
  const few = Math.max(1, Math.min(MAX_BESIDE, room));
  const shown = open ? findings : findings.slice(0, few);
  const more = findings.length - few;
  const client = useLiveClient();
  const { window } = useStore(client.view);
  const reading = useStore(client.reading)?.state === "loading";
  const last = window.kind === "last" ? "last " : "";
  const period = view?.state === "ok" ? `${last}${formatDuration(view.seconds)}` : "";
  return (
    <section
      aria-label="Findings"
      className={`surface ${styles.panel}`}
      data-panel="findings"
      data-open={open}
    >
      <h2 title={period === "" ? undefined : `Of the ${period} in view`}>Findings</h2>
      <div ref={place} id={id} className={styles.body} data-state={view?.state ?? "waiting"}>
        {findings.length > 0 ? (
          <ul className={styles.list}>
            {shown.map((finding) => (
              <Item key={finding.id} finding={finding} zero_ms={view?.zero_ms ?? 0} open={open} />
            ))}
          </ul>
        ) : (
          <p className={styles.none}>{emptyText(view, reading)}</p>
        )}
        {open && period !== "" ? <p className={styles.evidence}>Of the {period} in view.</p> : null}
      </div>
      <Button
        variant="quiet"
        className={styles.more}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        {open ? "Less" : more > 0 ? `${more} more` : "Details"}
      </Button>
    </section>
  );
}

const CONFIDENCE: Readonly<Record<Finding["confidence"], string>> = {
  measured: "Measured.",
  likely: "Likely.",
};

interface ItemProps {
  readonly finding: Finding;
  /** Unix time of the attach, in ms. */
  readonly zero_ms: number;
  readonly open: boolean;
}

function Item({ finding, zero_ms, open }: ItemProps) {
  const client = useLiveClient();
  const { evidence, numbers, advice, confidence, link, id, when } = finding;
  const sentence = useSentence(finding);
  const text = when ? `${timeText(when, zero_ms)}: ${sentence}` : sentence;
  return (
    <li data-finding={id} className={styles.card} data-confidence={confidence}>
      <button
        type="button"
        className={styles.finding}
        title={open ? "Press to see it." : `${text} ${evidence} Press to see it.`}
        onClick={() => followLink(client, finding)}
      >
        {text}
      </button>
      <ul className={styles.numbers} aria-label="Measured">
        {numbers.map(({ value, what }) => (
          <li key={what} title={`${value} ${what}`}>
            <strong>{value}</strong> {what}
          </li>
        ))}
      </ul>
      <p className={styles.advice}>
        <span className={styles.confidence}>{CONFIDENCE[confidence]}</span> Try: {advice}
      </p>
      {open ? (
        <p className={styles.evidence}>
          {evidence} <FindingStacks link={link} />
        </p>
      ) : null}
    </li>
  );
}

/** Time of a finding that holds for a part of the window. */
function timeText({ t0_s, t1_s, began, over, more }: When, zero_ms: number): string {
  const [from, to] = [t0_s, t1_s].map((t_s) => localTime(zero_ms + 1000 * t_s));
  const longest = !over ? `Since ${from}` : began ? `From ${from} to ${to}` : `Until ${to}`;
  return more === 0 ? longest : `${longest}, and ${counted(more, "time")} more`;
}

/** The sentence of a finding, with the code of its lock where stacks know it. */
function useSentence({ text, also = "", link }: Finding): string {
  const { locks } = usePlaces();
  const code = link.panel === "waiting" ? lockCode(locks.get(link.lock ?? 0)) : "";
  const end = `${code === "" ? "" : `, ${code}`}${also === "" ? "" : `; ${also}`}.`;
  return text.replace(/\.$/, end);
}

/** Link to the stacks of what a finding is about; nothing without stacks. */
function FindingStacks({ link }: { readonly link: FindingLink }) {
  switch (link.panel) {
    case "waiting":
      return link.lock === null ? (
        <StacksLink what={{ states: RUNNABLE }} plain={null}>
          Stacks of threads that could have run
        </StacksLink>
      ) : (
        <StacksLink what={{ lock: link.lock }} plain={null}>
          Stacks of its waits
        </StacksLink>
      );
    case "gomaxprocs":
    case "goroutines":
      return null;
    case "wakes":
    case "times":
      return (
        <StacksLink what={{ key: link.key }} plain={null}>
          Its stacks
        </StacksLink>
      );
  }
}

const RUNNABLE = ["preempted", "woken", "throttled"] as const;

function emptyText(view: FindingsView | null, reading: boolean): string {
  if (view?.state !== "ok") {
    return reading ? "Reading the run…" : "Findings need five seconds of data.";
  }
  const { looked_at, not_looked_at } = view;
  const checked = `Nothing stood out. Looked at: ${looked_at.join(", ")}.`;
  if (not_looked_at.length === 0) {
    return checked;
  }
  const reasons = new Set(not_looked_at.map(({ reason }) => reason));
  const parts = [...reasons].map((why) => {
    const those = not_looked_at.filter(({ reason }) => reason === why);
    return `${those.map(({ subject }) => subject).join(", ")} (${why})`;
  });
  return `${checked} Not looked at: ${parts.join("; ")}.`;
}

/** Show the data of a finding: its panel, with the named item selected, and the time when it was. */
function followLink(client: LiveClient, { link, when }: Finding): void {
  // A finding that still holds keeps following the live window.
  if (when?.over) {
    client.request({ window: { kind: "fixed", t0_s: when.t0_s, t1_s: when.t1_s } });
  }
  switch (link.panel) {
    case "waiting":
      if (link.lock !== null) client.request({ open_lock: link.lock });
      break;
    case "wakes":
    case "times":
      client.request({ selected: link.key });
      break;
    case "gomaxprocs":
    case "goroutines":
      break;
  }
  goToPanel(link.panel);
}
