import { type ReactNode, useMemo } from "react";
import { Button } from "../../ui/Controls";
import { Notice, ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import type { Problem, StackGraph, StackSide } from "../../wire/generated/models";
import { samplingText } from "./counts";
import { GraphView } from "./GraphView";
import type { StacksLink } from "./link";
import styles from "./stacks.module.css";
import { timeText } from "./stackTree";
import { type StackSubject, useStackGraph } from "./useStacks";

/** Props of all views of the Stacks page: what is shown, and the callback for another view. */
export interface StacksProps {
  readonly subject: StackSubject;
  readonly link: StacksLink;
  /** Change a part of the view; "replace" adds no history entry. */
  readonly onLink: (part: Partial<StacksLink>, how?: "push" | "replace") => void;
}

interface StackPaneProps extends StacksProps {
  readonly side: StackSide;
  readonly title: string;
  readonly note?: string;
  readonly controls?: ReactNode;
}

/** A panel of one flame graph. */
export function StackPane({ title, note, controls, ...rest }: StackPaneProps) {
  return (
    <Panel title={title} note={note ?? null} controls={controls} data-panel={`stacks-${rest.side}`}>
      <StackBody label={title} {...rest} />
    </Panel>
  );
}

interface StackBodyProps extends StacksProps {
  readonly label: string;
  readonly side: StackSide;
  /** False keeps the last answer; true by default. */
  readonly watched?: boolean;
}

/** One flame graph, requested while it is shown. */
export function StackBody({ subject, link, side, label, watched = true, onLink }: StackBodyProps) {
  const { value, problem, refresh } = useStackGraph(link.source, subject, link, side, watched);
  return (
    <>
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value === null ? (
        problem === null ? (
          <p className={styles.empty}>Reading stacks…</p>
        ) : null
      ) : (
        <Graph label={label} graph={value} {...{ link, side, onLink }} />
      )}
    </>
  );
}

interface GraphProps {
  readonly label: string;
  readonly graph: StackGraph;
  readonly link: StacksLink;
  readonly side: StackSide;
  readonly onLink: StacksProps["onLink"];
}

/** The graph, or why there is none. */
function Graph(props: GraphProps) {
  const { graph } = props;
  const { reason, sampling, nodes, exact_ns } = graph;
  if (nodes.length === 0) {
    return (
      <p className={styles.empty} data-reason="">
        {reason || emptyText(graph)}
        {exact_ns > 0 ? ` The ledger has ${timeText(exact_ns)} of it.` : ""}
      </p>
    );
  }
  return (
    <>
      {reason === "" ? null : <p className={styles.empty}>{reason}</p>}
      {sampling === null || sampling.reason === "" || sampling.reason === reason ? null : (
        <Notice status="warning" title="Some stacks are missing">
          {sampling.reason}
        </Notice>
      )}
      {graph.note === undefined || graph.note === "" ? null : (
        <p className={`note ${styles.said}`} data-note="">
          {graph.note}
        </p>
      )}
      <GraphView {...props} />
    </>
  );
}

function emptyText({ exact_ns, side }: StackGraph): string {
  if (exact_ns === 0) return "By the ledger these threads spent no time so in this window.";
  return side === "threads"
    ? "No stack of this time is known."
    : "No wait in this window has a known end by another thread.";
}

interface SamplingNoticeProps {
  /** Why the lease was refused; null if it was not. */
  readonly problem: Problem | null;
  readonly onRetry: () => void;
  readonly viewer: boolean;
  readonly subject: StackSubject;
}

/** Whether stacks are taken, or why not and what to do. */
export function SamplingNotice({ problem, onRetry, viewer, subject }: SamplingNoticeProps) {
  const { target, run } = subject;
  const sampling = useMemo(() => target.stacks ?? null, [target]);
  if (run !== null) return null;
  if (problem !== null) {
    return (
      <ProblemNotice problem={problem} actions={<Button onClick={onRetry}>Try again</Button>} />
    );
  }
  if (target.state !== "attached") {
    return (
      <Notice status="info" title="The target has ended">
        Stacks taken before are shown.
      </Notice>
    );
  }
  if (viewer && sampling?.until_unix_us == null) {
    return (
      <Notice status="info" title="No stacks are being taken">
        Taking stacks needs an operator: this session may only view. Open this page as an operator,
        or run `tidscope stacks`.
      </Notice>
    );
  }
  return sampling === null ? null : (
    <p className="note" data-sampling={sampling.trigger}>
      {samplingText(sampling)} {sampling.reason}
    </p>
  );
}
