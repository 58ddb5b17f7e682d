import { useEffect, useRef } from "react";
import { runHref } from "../base/route";
import { navigate, route } from "../base/routing";
import { session } from "../base/session";
import { chooseTheme, THEME_CHOICES, type ThemeChoice, themeChoice } from "../base/theme";
import { toast } from "../base/toasts";
import { useStore } from "../base/useStore";
import { useLiveClient } from "../stream/client";
import { Button, PageLink, Select } from "../ui/Controls";
import { RecordingDot, type Status, StatusIcon } from "../ui/Notices";
import type { Recording } from "../wire/generated/models";
import type { Connection } from "../wire/liveSocket";
import styles from "./TopBar.module.css";

const THEME_NAMES: Readonly<Record<ThemeChoice, string>> = {
  system: "System",
  light: "Light",
  dark: "Dark",
};

interface TopBarProps {
  readonly onHelp: () => void;
  readonly onSessions: () => void;
}

/** Top bar of every page: name, navigation, host, theme and connection. */
export function TopBar({ onHelp, onSessions }: TopBarProps) {
  const at = useStore(route);
  const { page } = at;
  const stacksOf = at.page === "stacks" ? (at.query.startsWith("run=") ? "run" : "target") : null;
  const live = useStore(useLiveClient().live);
  const signedIn = useStore(session) !== null;
  const host = live?.hosts.find((each) => each.connected) ?? live?.hosts[0];
  return (
    <header className={styles.bar}>
      <Logo />
      <nav aria-label="Pages" className={styles.nav}>
        <NavLink href="/" here={page === "live" || stacksOf === "target"} name="Live" />
        <NavLink href="/hosts" here={page === "hosts"} name="Hosts" />
        <NavLink
          href="/runs"
          here={page === "runs" || page === "run" || stacksOf === "run"}
          name="Runs"
        />
        <NavLink href="/compare" here={page === "compare"} name="Compare" />
        <NavLink
          href="/experiments"
          here={page === "experiments" || page === "experiment"}
          name="Experiments"
        />
        <NavLink href="/traces" here={page === "traces" || page === "trace"} name="Traces" />
        <NavLink href="/doctor" here={page === "doctor"} name="Doctor" />
      </nav>
      <p className={styles.host}>
        {host === undefined ? null : (
          <>
            <span className={styles.hostName}>{host.name}</span>
            <span className={styles.hostMore}>
              Linux {host.kernel} · {host.cpus} CPUs
            </span>
          </>
        )}
      </p>
      <RecordingIndicator />
      <ConnectionStatus />
      <ThemeSelect />
      {signedIn ? (
        <Button variant="quiet" className={styles.small} onClick={onSessions} aria-label="Sessions">
          <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true">
            <circle cx="8" cy="5" r="3" />
            <path d="M2.5 14.5a5.5 5.5 0 0 1 11 0" />
          </svg>
        </Button>
      ) : null}
      <HelpButton onHelp={onHelp} />
    </header>
  );
}

/** Selection of the theme. */
export function ThemeSelect() {
  return (
    <div className={styles.theme}>
      <Select
        label="Theme"
        value={useStore(themeChoice)}
        choices={THEME_CHOICES.map((value) => ({ value, label: THEME_NAMES[value] }))}
        onChange={chooseTheme}
      />
    </div>
  );
}

/** Button that opens the list of keys. */
export function HelpButton({ onHelp }: { readonly onHelp: () => void }) {
  return (
    <Button
      variant="quiet"
      className={styles.small}
      onClick={onHelp}
      aria-label="Keyboard shortcuts"
    >
      ?
    </Button>
  );
}

function NavLink({ href, here, name }: { href: string; here: boolean; name: string }) {
  return (
    <PageLink className={styles.place} href={href} aria-current={here ? "page" : undefined}>
      {name}
    </PageLink>
  );
}

/** The name, with a small trace as logo. */
export function Logo() {
  return (
    <span className={styles.logo}>
      <svg className={styles.screen} viewBox="0 0 24 18" aria-hidden="true">
        <rect x="0.75" y="0.75" width="22.5" height="16.5" rx="2.5" />
        <path d="M3.5 11.5h4l2-6 3.5 8 2.5-5 1.5 3h3.5" />
      </svg>
      <span className={styles.name}>tidscope</span>
    </span>
  );
}

const SHOWN: Readonly<Record<Connection["state"], readonly [Status, string]>> = {
  connecting: ["unknown", "Connecting"],
  open: ["ok", "Connected"],
  waiting: ["warning", "Disconnected"],
  denied: ["error", "Rejected"],
  refused: ["error", "Rejected"],
  closed: ["unknown", "Not signed in"],
};

/** Connection state in one word. */
function ConnectionStatus() {
  const connection = useStore(useLiveClient().connection);
  const [status, label] = SHOWN[connection.state];
  return (
    <span className={styles.state} role="status" data-connection={connection.state}>
      <StatusIcon status={status} />
      <span className={styles.word}>{label}</span>
    </span>
  );
}

const NONE: readonly Recording[] = [];

/** Active recordings, on every page. */
function RecordingIndicator() {
  const recordings = useStore(useLiveClient().live)?.recordings ?? NONE;
  useEnded(recordings);
  const [first] = recordings;
  if (first === undefined) {
    return null;
  }
  const more = recordings.length - 1;
  return (
    <span className={styles.signs} role="status" aria-label="Recording">
      <PageLink className={styles.sign} href={runHref(first.run)} title={`Recording ${first.name}`}>
        <RecordingDot since_unix_us={first.created_unix_us} />
        <span className={styles.recordingIndicatorName}>{first.name}</span>
      </PageLink>
      {more > 0 ? <PageLink href="/runs">+{more}</PageLink> : null}
    </span>
  );
}

/** Announce each recording that has ended, for whatever reason, with a link to its run. */
function useEnded(recordings: readonly Recording[]): void {
  const before = useRef(recordings);
  useEffect(() => {
    for (const { run, name } of before.current) {
      if (!recordings.some((each) => each.run === run)) {
        toast(`Recorded ${name}.`, { label: "Open", run: () => navigate(runHref(run)) });
      }
    }
    before.current = recordings;
  }, [recordings]);
}
