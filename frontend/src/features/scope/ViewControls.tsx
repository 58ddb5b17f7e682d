import { memo, useEffect, useState } from "react";
import { parseMoment, requestsHref } from "../../base/moment";
import { hasBackend } from "../../base/source";
import { useStore, useThrottled } from "../../base/useStore";
import { RING_FIELDS } from "../../stream/chartSpecs";
import { type LiveClient, useLiveClient } from "../../stream/client";
import { fieldLabel, formatDuration } from "../../stream/format";
import { keyOfTid, type Level, type TimeWindow } from "../../stream/viewRequest";
import type { Span } from "../../stream/window";
import { Button, PageLink, SegmentedControl, Select } from "../../ui/Controls";
import { Popover } from "../../ui/Overlays";
import type { Target } from "../../wire/generated/models";
import { PanelNav } from "../arrange/PanelNav";
import { CompareBefore } from "../change/ChangePanel";
import styles from "./TargetHeader.module.css";

/** A choice by its value; "zoomed" is not selectable. */
type WindowChoice = "30" | "60" | "300" | "all" | "zoomed";

const WINDOWS: readonly { readonly value: WindowChoice; readonly label: string }[] = [
  { value: "30", label: "30 s" },
  { value: "60", label: "1 min" },
  { value: "300", label: "5 min" },
  { value: "all", label: "All" },
];

/** Lengths of "all" in seconds: it grows in steps, so that the axis does not crawl. */
const STEPS = [30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400] as const;

/** The live window of a choice, given the retained past. */
export function windowFor(choice: WindowChoice, kept_s: number): TimeWindow {
  if (choice === "all" || choice === "zoomed") {
    return { kind: "last", seconds: STEPS.find((step) => step >= kept_s) ?? Math.ceil(kept_s) };
  }
  return { kind: "last", seconds: Number(choice) };
}

export function zoomWords(window: Extract<TimeWindow, { kind: "fixed" }>): string {
  return formatDuration(window.t1_s - window.t0_s);
}

/** Choice of the time range and of the threads with their own line. */
export const ViewControls = memo(function ViewControls({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const view = useStore(client.view);
  return (
    <div className={`surface ${styles.controls}`} data-paused={view.paused}>
      <Button
        className={styles.pause}
        aria-pressed={view.paused}
        onClick={() => client.setPaused(!view.paused)}
      >
        <svg className={styles.sign} viewBox="0 0 10 10" aria-hidden="true">
          <path d={view.paused ? "M2 1l7 4-7 4z" : "M1.5 1h2.5v8H1.5zM6 1h2.5v8H6z"} />
        </svg>
        {view.paused ? "Resume" : "Pause"}
      </Button>
      <WindowSelect />
      {view.window.kind === "fixed" ? (
        <WindowRequests target={target} window={view.window} />
      ) : null}
      <LineControls target={target} />
      <PanelNav />
      <span className={styles.controlWord} role="status">
        {view.paused ? "Paused. Sampling continues." : ""}
      </span>
    </div>
  );
});

/** Check interval of "all", in ms, which grows in large steps. */
const STEP_MS = 1000;

/** Choice of the time range for all axes, and return from a zoomed one. */
function WindowSelect() {
  const client = useLiveClient();
  const { window } = useStore(client.view);
  const now_s = useThrottled(client.target, STEP_MS)?.now_s ?? 0;
  const from_s = useThrottled(client.health, STEP_MS)?.history_from_s ?? 0;
  const [choice, setChoice] = useState<WindowChoice>("60");
  const zoomed = window.kind === "fixed";

  const wanted = windowFor(choice, now_s - from_s);
  const seconds = wanted.kind === "last" ? wanted.seconds : 0;
  useEffect(() => {
    if (!zoomed) {
      client.request({ window: { kind: "last", seconds } });
    }
  }, [client, seconds, zoomed]);

  const choose = (next: WindowChoice) => {
    setChoice(next);
    client.request({ window: windowFor(next, now_s - from_s) });
  };
  return (
    <>
      <SegmentedControl
        label="Time window"
        value={zoomed ? "zoomed" : choice}
        choices={WINDOWS}
        onChange={choose}
      />
      {zoomed ? (
        <Button onClick={() => choose(choice)}>Zoomed to {zoomWords(window)} · back to live</Button>
      ) : null}
      <CompareBefore seconds={zoomed ? window.t1_s - window.t0_s : seconds} />
    </>
  );
}

const TOP = [5, 10, 20, 50] as const;

const BY_DEFAULT = "default";

const LEVELS: readonly { readonly value: Level | typeof BY_DEFAULT; readonly label: string }[] = [
  { value: BY_DEFAULT, label: "CPU stacked, others by thread" },
  { value: "process", label: "processes" },
  { value: "role", label: "roles" },
  { value: "thread", label: "threads" },
];

/** Choice of the lines' level, their ranking, and the start of sums. */
export function LineControls({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const view = useStore(client.view);
  const group = target.group != null;
  const ranked = RING_FIELDS.filter((field) => target.fields.includes(field));
  return (
    <Popover face="Lines" label="Lines of charts">
      <div className={styles.lines}>
        <Select
          label="Lines of"
          value={view.level ?? BY_DEFAULT}
          choices={choicesOf(group)}
          onChange={(level) => client.request({ level: level === BY_DEFAULT ? null : level })}
        />
        <Select
          label="Lines"
          value={String(view.top_k)}
          choices={TOP.map((count) => ({ value: String(count), label: `top ${count}` }))}
          onChange={(count) => client.request({ top_k: Number(count) })}
        />
        <Select
          label="by"
          value={view.rank_by === "chart" ? "" : view.rank_by.field}
          choices={[
            { value: "", label: "each chart's own metric" },
            ...ranked.map((field) => ({ value: field, label: fieldLabel(field) })),
          ]}
          onChange={(field) => client.request({ rank_by: field === "" ? "chart" : { field } })}
        />
        <Select
          label="Cumulative since"
          value={view.baseline}
          choices={[
            { value: "attach", label: client.extent === null ? "attach" : "start of run" },
            { value: "start", label: "thread start" },
          ]}
          onChange={(baseline) => client.request({ baseline })}
        />
      </div>
    </Popover>
  );
}

function choicesOf(group: boolean): typeof LEVELS {
  if (!group) return LEVELS.filter(({ value }) => value !== "process");
  const byDefault = { value: BY_DEFAULT, label: "processes, CPU stacked" } as const;
  return LEVELS.map((each) => (each.value === BY_DEFAULT ? byDefault : each));
}

interface WindowRequestsProps {
  readonly target: Pick<Target, "process" | "group" | "attached_unix_us">;
  readonly window: Span;
}

/**
 * Link from a peak to the requests that waited for the process meanwhile; for a group, to all
 * requests.
 */
export function WindowRequests({ target, window }: WindowRequestsProps) {
  if (!hasBackend()) return null;
  const at = (t_s: number) => target.attached_unix_us / 1000 + 1000 * t_s;
  const pid = target.group ? null : target.process.pid;
  const moment = { tid: null, from_ms: at(window.t0_s), to_ms: at(window.t1_s) };
  return <PageLink href={requestsHref(pid, moment)}>Requests in this window</PageLink>;
}

/** Show the window, and select the thread, named by the address, once. */
export function useMoment(target: Pick<Target, "id" | "attached_unix_us"> | null): void {
  const client = useLiveClient();
  const id = target?.id ?? null;
  const attached_us = target?.attached_unix_us ?? 0;
  useEffect(() => {
    const moment = parseMoment(window.location.search);
    if (id === null || moment === null) return undefined;
    const since = (ms: number) => ms / 1000 - attached_us / 1e6;
    const t0_s = since(moment.from_ms);
    client.request({ window: { kind: "fixed", t0_s, t1_s: since(moment.to_ms) } });
    return moment.tid === null ? undefined : selectThread(client, moment.tid);
  }, [client, id, attached_us]);
}

/** Select a thread by its ID, and by its key once that is known. */
function selectThread(client: LiveClient, tid: number): () => void {
  const asked = keyOfTid(tid);
  client.request({ selected: asked });
  const ends = [client.mountFacts("thread")];
  const end = () => {
    for (const each of ends) each();
  };
  ends.push(
    client.facts.thread.subscribe(() => {
      const view = client.facts.thread.get();
      if (view?.tid !== tid) return;
      end();
      if (client.view.get().selected === asked) client.request({ selected: view.key });
    }),
  );
  return end;
}
