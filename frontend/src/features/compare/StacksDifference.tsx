import { useCallback, useMemo, useState } from "react";
import { getRun } from "../../api/runs";
import { usePolled } from "../../api/usePolled";
import { Button, Select } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import type { RunManifest } from "../../wire/generated/models";
import { DifferencePanel } from "../stacks/DifferenceView";
import { ALL_STACKS, type DifferenceSide, differenceQuery, PLAIN_LINK } from "../stacks/link";
import { DrawingBar } from "../stacks/ScopeBar";
import stacks from "../stacks/stacks.module.css";
import styles from "./ComparePage.module.css";
import { type PartProps, runsOf } from "./link";
import { runOf, windowOf } from "./side";

/** Difference of the stacks of the baseline's first run and another run, on request. */
export function StacksDifference({ link, comparison }: Omit<PartProps, "onLink">) {
  const [base, ...others] = runsOf(link);
  const [wanted, setWanted] = useState<string | null>(null);
  const [open, setOpen] = useState(false);
  // Runs of other groups first: they differ from the baseline on purpose.
  const first = link.groups[1]?.[0] ?? others[0];
  const other = others.find((side) => side === wanted) ?? first;
  if (base === undefined || other === undefined) return null;
  const nameOf = (side: string) => comparison.runs.find(({ run }) => run === side)?.name ?? side;
  return (
    <section className={styles.panel} aria-label="Stacks">
      <header className={styles.panelHead}>
        <h2>Stacks</h2>
        <span className={styles.hint}>
          Which code takes more or less time than in the baseline.
        </span>
        {others.length > 1 ? (
          <Select
            label="Compared run"
            value={other}
            choices={others.map((side) => ({ value: side, label: nameOf(side) }))}
            onChange={setWanted}
          />
        ) : null}
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? "Close" : "Compare stacks"}
        </Button>
      </header>
      {open ? (
        <Difference
          key={`${base} ${other}`}
          sides={[nameOf(base), nameOf(other)]}
          base={base}
          other={other}
        />
      ) : null}
    </section>
  );
}

interface DifferenceProps {
  readonly sides: readonly [before: string, after: string];
  readonly base: string;
  readonly other: string;
}

function Difference({ sides, base, other }: DifferenceProps) {
  const load = useCallback(
    (signal: AbortSignal) =>
      Promise.all([getRun(runOf(base), signal), getRun(runOf(other), signal)]),
    [base, other],
  );
  const { value: runs, problem } = usePolled(load, null);
  const [drawing, setDrawing] = useState(PLAIN_LINK);
  const query = useMemo(
    () =>
      runs === null ? null : () => differenceQuery(sideOf(base, runs[0]), sideOf(other, runs[1])),
    [base, other, runs],
  );
  if (problem !== null) return <ProblemNotice problem={problem} />;
  if (query === null) return <p className={styles.none}>Reading the runs…</p>;
  return (
    <div className={stacks.within}>
      <DrawingBar
        link={drawing}
        onLink={(part) => setDrawing((before) => ({ ...before, ...part }))}
      />
      <DifferencePanel
        title={sides.join(" → ")}
        sides={sides}
        query={query}
        periodMs={null}
        style={drawing}
      />
    </div>
  );
}

/** A run, or a window of it. */
function sideOf(side: string, run: RunManifest): DifferenceSide {
  const window = windowOf(side);
  const at = (s: number) => Math.min(run.to_ns, Math.round(run.from_ns + 1e9 * s));
  const span =
    window === null
      ? { from_ns: run.from_ns, to_ns: run.to_ns, open: false }
      : { from_ns: at(window.from_s), to_ns: at(window.to_s), open: false };
  return { source: { kind: "run", id: run.id }, scope: ALL_STACKS, span };
}
