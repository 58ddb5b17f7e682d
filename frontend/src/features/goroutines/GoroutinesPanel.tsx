/**
 * Feature `goroutines`: the worker's view of goroutines in, a table and a flame graph of what they
 * wait for out.
 */

import { lazy, Suspense, useRef, useState } from "react";
import { counted, formatDuration, formatNumber } from "../../stream/format";
import {
  codeText,
  type GoroutineKind,
  type GoroutineRow,
  type GoroutineStack,
  type GoroutinesView,
  placeText,
} from "../../stream/goroutines";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import { countColumn, kindColumn, textColumn, threadsColumn, useFacts } from "../facts/FactColumns";
import facts from "../facts/facts.module.css";
import styles from "./goroutines.module.css";

/** Loaded lazily: most pages open without flame graphs. */
const GoroutineFlame = lazy(async () => {
  const { GoroutineFlame } = await import("./GoroutineFlame");
  return { default: GoroutineFlame };
});

const KINDS: Readonly<Record<GoroutineKind, string>> = {
  blocked: "held up",
  idle: "idle",
  unknown: "not known",
  runs: "no wait",
};

const keyOf = ({ key }: GoroutineRow) => key;

const COLUMNS: readonly SortedColumn<GoroutineRow>[] = [
  textColumn("where", "Where", ({ place }) => codeText(place)),
  textColumn("reason", "Waiting for", ({ reason }) => reason, { width: 12 }),
  kindColumn("kind", "Kind", ({ kind }) => KINDS[kind], 6.5),
  threadsColumn(
    "mean",
    "Goroutines",
    ({ mean }) => mean,
    "Goroutines that waited there, on average over the readings.",
  ),
  countColumn("now", "Now", ({ now }) => now),
];
const OF_GROUP = [
  ...COLUMNS,
  textColumn<GoroutineRow>("process", "Process", ({ process }) => process, { width: 9 }),
];

/** Maximum stacks shown of a row. */
const MAX_STACKS = 6;

const UNREAD =
  "Goroutines wait without a thread, so threads do not show what for. They are listed here, with " +
  "their code, if the program serves net/http/pprof, tidscope runs with --ask-programs, and the " +
  "target is sampled more than once a second.";

/** Panel of goroutines by what they wait for and where; a row opens to its stacks. */
export function GoroutinesPanel() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("goroutines", place);
  return (
    <Panel title="Goroutines" note={noteOf(view)} data-panel="goroutines">
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? (
          <Table view={view} />
        ) : (
          <p className={facts.message}>
            {view?.state === "unread" || view?.state === "absent"
              ? UNREAD
              : "Waiting for a second reading…"}
          </p>
        )}
      </div>
    </Panel>
  );
}

function Table({ view: { rows } }: { readonly view: GoroutinesView }) {
  const [open, setOpen] = useState<string | null>(null);
  const [flame, setFlame] = useState(false);
  const grouped = rows.some(({ process }) => process !== "");
  return (
    <>
      <SortedTable
        label="Goroutines"
        columns={grouped ? OF_GROUP : COLUMNS}
        rows={rows}
        keyOf={keyOf}
        sortedBy="mean"
        first={18}
        pressed={({ key }) => key === open}
        onPress={({ key }) => setOpen(key === open ? null : key)}
        expands
        below={({ key, stacks }) => (key === open ? <Stacks stacks={stacks} /> : null)}
        none="No goroutine was there at two readings."
      />
      <details
        className={facts.parks}
        onToggle={({ currentTarget }) => setFlame(currentTarget.open)}
      >
        <summary>Flame graph of their stacks</summary>
        {flame ? (
          <Suspense fallback={<p className={facts.message}>Drawing stacks…</p>}>
            <GoroutineFlame rows={rows} />
          </Suspense>
        ) : null}
      </details>
    </>
  );
}

function Stacks({ stacks }: { readonly stacks: readonly GoroutineStack[] }) {
  const more = stacks.length - MAX_STACKS;
  return (
    <>
      <div className={styles.stacks}>
        {stacks.slice(0, MAX_STACKS).map((stack) => (
          <Stack key={stack.frames.map(codeText).join()} stack={stack} />
        ))}
      </div>
      {more > 0 ? <p className={styles.detail}>{counted(more, "more stack")}</p> : null}
    </>
  );
}

function Stack({ stack: { frames, mean } }: { readonly stack: GoroutineStack }) {
  // A function may be there several times: its distance from the outermost one tells them apart.
  const rows = frames.map((frame, depth) => ({ frame, id: frames.length - depth }));
  return (
    <ol
      className={styles.stack}
      aria-label={`Stack of ${formatNumber(mean, "threads")} goroutines`}
    >
      {rows.map(({ frame, id }) => (
        <li key={id}>
          {frame.function} <span>{placeText(frame)}</span>
        </li>
      ))}
    </ol>
  );
}

function noteOf(view: GoroutinesView | null): string {
  if (view?.state !== "ok") return "what they wait for, and where in the code";
  return (
    `${formatNumber(view.all, "threads")} on average, by the program's own profiles; ` +
    `over ${formatDuration(view.seconds)}`
  );
}
