import { useState } from "react";
import { asProblem } from "../api/http";
import { endSession, listSessions, signOut } from "../api/session";
import { usePolled } from "../api/usePolled";
import { localDate } from "../base/clock";
import { session } from "../base/session";
import { toast } from "../base/toasts";
import { useStore } from "../base/useStore";
import { Button } from "../ui/Controls";
import { ProblemNotice } from "../ui/Notices";
import { Dialog } from "../ui/Overlays";
import type { Problem, SessionInfo } from "../wire/generated/models";
import styles from "./App.module.css";

/** Most specific first: Edge also claims to be Chrome and Safari. */
const BROWSERS = [
  [/Edg\/(\d+)/, "Edge"],
  [/OPR\/(\d+)/, "Opera"],
  [/Firefox\/(\d+)/, "Firefox"],
  [/Chrome\/(\d+)/, "Chrome"],
  [/Version\/(\d+).*Safari\//, "Safari"],
] as const;
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux"] as const;
const MAX_LABEL = 40;

/** "Firefox 140 on Linux", from a User-Agent; any other text unchanged, but shortened. */
export function programName(label: string): string {
  for (const [pattern, name] of BROWSERS) {
    const version = pattern.exec(label)?.[1];
    if (version !== undefined) {
      const system = SYSTEMS.find((each) => label.includes(each));
      return `${name} ${version}${system === undefined ? "" : ` on ${system}`}`;
    }
  }
  if (label === "") return "Unknown program";
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
}

const PERIOD_MS = 5000;
const ROLES = {
  operator: "Operator: may attach, record and steer.",
  viewer: "Viewer: may watch, and change nothing.",
} as const;

/** The current session and sign-out. Operators see all sessions and can end each. */
export function SessionDialog({ onClose }: { readonly onClose: () => void }) {
  const role = useStore(session)?.role ?? "viewer";
  const { value, problem, refresh } = usePolled(
    role === "operator" ? listSessions : null,
    PERIOD_MS,
  );
  const [refusal, setRefusal] = useState<Problem | null>(null);

  const leave = () => {
    onClose();
    signOut().catch(() =>
      toast(
        "Signed out on this page. The backend did not answer: there the session ends when it expires.",
        null,
        "error",
      ),
    );
  };
  const end = async (id: string) => {
    setRefusal(null);
    try {
      await endSession(id);
    } catch (error) {
      setRefusal(asProblem(error));
    }
    refresh();
  };

  const others = value?.sessions.filter((each) => !each.own) ?? [];
  const shown = refusal ?? problem;
  return (
    <Dialog title="Sessions" onClose={onClose}>
      <div className={styles.own}>
        <p>
          {ROLES[role]} The session is kept for <code>{window.location.origin}</code> in this
          browser.
        </p>
        <Button variant="primary" onClick={leave}>
          Sign out
        </Button>
      </div>
      {shown === null ? null : <ProblemNotice problem={shown} />}
      {value === null ? null : (
        <section className={styles.others} aria-label="Other sessions">
          <h3>Other sessions: {others.length}</h3>
          <ul>
            {others.map((each) => (
              <Row key={each.id} info={each} onEnd={() => void end(each.id)} />
            ))}
          </ul>
        </section>
      )}
    </Dialog>
  );
}

function Row({ info, onEnd }: { readonly info: SessionInfo; readonly onEnd: () => void }) {
  const name = programName(info.label);
  return (
    <li className={styles.row} data-session={info.id}>
      <span className={styles.who} title={info.label}>
        {name} at {info.address}
      </span>
      <span className={styles.more}>
        {info.role} · signed in {localDate(info.opened_unix_us / 1000)} · last used{" "}
        {localDate(info.used_unix_us / 1000)}
      </span>
      <Button onClick={onEnd} aria-label={`Sign out ${name} at ${info.address}`}>
        Sign out
      </Button>
    </li>
  );
}
