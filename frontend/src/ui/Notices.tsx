import type { ReactNode } from "react";
import { elapsedText } from "../base/clock";
import { useNow } from "../base/useStore";
import type { Problem, RunState } from "../wire/generated/models";
import styles from "./Notices.module.css";

/** Components that show a state: icons, notices, badges and placeholders. */

/** ok: a tick; warning: a triangle; error: a cross; info: an i; unknown: a question mark. */
export type Status = "ok" | "warning" | "error" | "info" | "unknown";

const SHAPES: Readonly<Record<Status, string>> = {
  ok: "M3.5 8.5l3 3 6-7",
  warning: "M8 2.5 14.5 13.5h-13zM8 6.5v3.5M8 11.6v.4",
  error: "M4 4l8 8M12 4l-8 8",
  info: "M8 1.8a6.2 6.2 0 1 1 0 12.4 6.2 6.2 0 0 1 0-12.4M8 7.2v4M8 4.6v.6",
  unknown: "M5.4 6a2.6 2.6 0 1 1 3.8 2.3c-.8.4-1.2.9-1.2 1.9M8 12.4v.5",
};

/** An icon whose shape shows the status, so that colour is not the only cue. */
export function StatusIcon({ status }: { readonly status: Status }) {
  return (
    <svg className={`${styles.icon} ${styles[status]}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[status]} />
    </svg>
  );
}

interface NoticeProps {
  readonly status: Status;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Announce at once to screen readers. */
  readonly urgent?: boolean;
}

/** A status message with optional actions. */
export function Notice({ status, title, children, actions, urgent = false }: NoticeProps) {
  return (
    <div className={styles.notice} data-status={status} role={urgent ? "alert" : "status"}>
      <span className={styles.noticeIcon}>
        <StatusIcon status={status} />
      </span>
      <div className={styles.text}>
        <p className={styles.title}>{title}</p>
        {children === undefined ? null : <div className={styles.body}>{children}</div>}
      </div>
      {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
    </div>
  );
}

interface ProblemNoticeProps {
  readonly problem: Problem;
  readonly actions?: ReactNode;
}

/** A refusal: the reason and the remedy. */
export function ProblemNotice({ problem, actions }: ProblemNoticeProps) {
  return (
    <Notice status="error" title={problem.title} actions={actions} urgent>
      <p>{problem.detail}</p>
      {problem.hint === "" ? null : <p>{problem.hint}</p>}
    </Notice>
  );
}

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  /** The state fills the page: its title is the page's. */
  readonly page?: boolean;
}

/** Placeholder for missing content: why it is missing, and what to do. */
export function EmptyState({ title, children, page = false }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      <svg className={styles.trace} viewBox="0 0 240 48" aria-hidden="true">
        <path d="M0 24.5h240M0 8.5h240M0 40.5h240M40.5 0v48M80.5 0v48M120.5 0v48M160.5 0v48M200.5 0v48" />
        <path className={styles.line} d="M0 24.5h240" />
      </svg>
      {page ? <h1>{title}</h1> : <h2>{title}</h2>}
      <div className={styles.emptyBody}>{children}</div>
    </div>
  );
}

/** A red dot with the recording time so far. */
export function RecordingDot({ since_unix_us }: { readonly since_unix_us: number }) {
  const now = useNow(1000);
  return (
    <span className={styles.recording}>
      <span className={styles.recordingDot} aria-hidden="true" />
      <span className="visually-hidden">Recording for</span>
      <span className={styles.time}>{elapsedText((now - since_unix_us / 1000) / 1000)}</span>
    </span>
  );
}

const SHOWN: Readonly<Record<RunState, readonly [Status, string]>> = {
  recording: ["info", "recording"],
  complete: ["ok", "complete"],
  incomplete: ["warning", "incomplete"],
  interrupted: ["warning", "interrupted"],
};

/** State of a run (complete or not) as icon and word. */
export function RunStateBadge({ state }: { readonly state: RunState }) {
  const [status, label] = SHOWN[state];
  return (
    <span className={styles.state} data-run-state={state}>
      {state === "recording" ? (
        <span className={styles.stateDot} aria-hidden="true" />
      ) : (
        <StatusIcon status={status} />
      )}
      {label}
    </span>
  );
}
