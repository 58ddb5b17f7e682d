import { route } from "../base/routing";
import { session } from "../base/session";
import { chooseTheme, THEME_CHOICES, type ThemeChoice, themeChoice } from "../base/theme";
import { useStore } from "../base/useStore";
import { useLiveClient } from "../stream/clients";
import { Button } from "../ui/Button";
import { PageLink } from "../ui/PageLink";
import { Select } from "../ui/Select";
import { ConnectionStatus } from "./ConnectionStatus";
import { Logo } from "./Logo";
import { RecordingIndicator } from "./RecordingIndicator";
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

/** Name, places, host, theme and connection: one line on every page. */
export function TopBar({ onHelp, onSessions }: TopBarProps) {
  const { page } = useStore(route);
  const choice = useStore(themeChoice);
  const live = useStore(useLiveClient().live);
  const signedIn = useStore(session) !== null;
  const host = live?.hosts.find((each) => each.connected) ?? live?.hosts[0];
  return (
    <header className={styles.bar}>
      <Logo />
      <nav aria-label="Pages" className={styles.nav}>
        <NavLink href="/" here={page === "live"} name="Live" />
        <NavLink href="/runs" here={page === "runs" || page === "run"} name="Runs" />
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
      <div className={styles.theme}>
        <Select
          label="Theme"
          value={choice}
          choices={THEME_CHOICES.map((value) => ({ value, label: THEME_NAMES[value] }))}
          onChange={chooseTheme}
        />
      </div>
      {signedIn ? (
        <Button look="quiet" className={styles.small} onClick={onSessions} aria-label="Sessions">
          <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true">
            <circle cx="8" cy="5" r="3" />
            <path d="M2.5 14.5a5.5 5.5 0 0 1 11 0" />
          </svg>
        </Button>
      ) : null}
      <Button
        look="quiet"
        className={styles.small}
        onClick={onHelp}
        aria-label="Keyboard shortcuts"
      >
        ?
      </Button>
    </header>
  );
}

function NavLink({ href, here, name }: { href: string; here: boolean; name: string }) {
  return (
    <PageLink className={styles.place} href={href} aria-current={here ? "page" : undefined}>
      {name}
    </PageLink>
  );
}
