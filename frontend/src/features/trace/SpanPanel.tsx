import { momentHref } from "../../base/moment";
import { liveHref, runHref } from "../../base/route";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { counted } from "../../stream/format";
import { PageLink } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import type { SpanLock, SpanThread, TraceSpan } from "../../wire/generated/models";
import { type StackSource, stacksHref } from "../stacks/link";
import { operationName, timeText } from "../traces/callTree";
import { guessed, isUnknown, joinText, PartsBar, partText, threadText } from "./PartsBar";
import styles from "./Trace.module.css";
import type { WaterfallRow } from "./waterfall";

interface SpanPanelProps {
  readonly row: WaterfallRow;
  /** Thread activity, or null if the span is off the critical path. */
  readonly thread: SpanThread | null;
}

/** Time shown before and after a span, for context: a share of its length, with a minimum in ms. */
const AROUND = { share: 0.5, least_ms: 250 } as const;

/** A span: its thread's activity, and its attributes. */
export function SpanPanel({ row, thread }: SpanPanelProps) {
  const { span, after_ns, own_ns } = row;
  const facts: readonly (readonly [string, string])[] = [
    ["Service", span.service],
    ["Kind", span.kind],
    ["Began after", timeText(after_ns)],
    ["Duration", timeText(span.duration_ns)],
    ["On the critical path", own_ns === 0 ? "not itself" : timeText(own_ns)],
    ["Process", span.pid === null ? "not known" : String(span.pid)],
    ["Thread", span.thread_id === null ? "not known" : String(span.thread_id)],
  ];
  return (
    <Panel title={`Span ${operationName(span)}`} note={span.error ? "failed" : ""}>
      <div className={styles.span}>
        <section aria-label="Threads meanwhile">
          <h3>What its thread did on the critical path</h3>
          {thread === null ? (
            <p className={styles.note}>It is not on the critical path.</p>
          ) : (
            <ThreadParts thread={thread} span={span} />
          )}
        </section>
        <section aria-label="Facts">
          <h3>Span</h3>
          <Facts facts={facts} />
        </section>
        <section aria-label="Attributes">
          <h3>Attributes</h3>
          <Facts facts={Object.entries(span.attributes)} />
        </section>
      </div>
    </Panel>
  );
}

function Facts({ facts }: { readonly facts: readonly (readonly [string, string])[] }) {
  return facts.length === 0 ? (
    <p className={styles.note}>None.</p>
  ) : (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt title={name}>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ThreadPartsProps {
  readonly thread: SpanThread;
  readonly span: TraceSpan;
}

/** Breakdown of a span, its certainty, and links to details. */
function ThreadParts({ thread, span }: ThreadPartsProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const around_ms = Math.max(AROUND.least_ms, (AROUND.share * span.duration_ns) / 1e6);
  const moment = {
    tid: thread.tid,
    from_ms: span.start_ns / 1e6 - around_ms,
    to_ms: (span.start_ns + span.duration_ns) / 1e6 + around_ms,
  };
  // A share of what is not known at all would only look like a measurement.
  const parts = (isUnknown(thread) ? [] : thread.parts).map(
    (part) => [guessed(thread, part.reason), partText(thread, part)] as const,
  );
  const whose = thread.tid === null ? "Its process" : "Its thread";
  const stacks = (source: StackSource) =>
    stacksHref({
      source,
      window: {
        kind: "fixed",
        from_ms: span.start_ns / 1e6,
        to_ms: (span.start_ns + span.duration_ns) / 1e6,
      },
      tids: thread.tid === null ? [] : [thread.tid],
      name: thread.tid === null ? "" : threadText(thread),
    });
  return (
    <>
      {isUnknown(thread) ? null : <PartsBar thread={thread} theme={colours} />}
      <Facts facts={[["Thread", threadText(thread)], ...parts]} />
      <p className={styles.note}>{joinText(thread)}</p>
      <SpanLocks locks={thread.locks} />
      <p className={styles.links}>
        {thread.target_id === null ? null : (
          <PageLink href={momentHref(liveHref(thread.target_id), moment)}>
            {whose} on Live at that time
          </PageLink>
        )}
        {thread.target_id === null ? null : (
          <PageLink href={stacks({ kind: "target", id: thread.target_id })}>
            Stacks during the span, live
          </PageLink>
        )}
        {thread.run_id === null ? null : (
          <PageLink href={momentHref(runHref(thread.run_id), moment)}>
            {whose} in the run at that time
          </PageLink>
        )}
        {thread.run_id === null ? null : (
          <PageLink href={stacks({ kind: "run", id: thread.run_id })}>
            Stacks during the span, in the run
          </PageLink>
        )}
      </p>
    </>
  );
}

/** Locks awaited by the thread of a span, or its process, at about that time. */
function SpanLocks({ locks }: { readonly locks: readonly SpanLock[] }) {
  if (locks.length === 0) return null;
  return (
    <>
      <h3>Locks around that time</h3>
      <ul className={styles.locks} aria-label="Locks around that time">
        {locks.map((lock) => (
          <li key={`${lock.source} ${lock.name}`}>
            <strong>{lock.name === "" ? "a lock without a name" : lock.name}</strong>
            {`: ${timeText(lock.wait_ns)} of waiting in ${timeText(lock.over_ns)}`}
            {lock.waits === 0 ? "" : `, ${counted(lock.waits, "wait")}`}
            {lock.woken_by === null ? "" : `; ${lock.woken_by} ended most of it`}
          </li>
        ))}
      </ul>
    </>
  );
}
