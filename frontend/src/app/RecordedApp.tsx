import { useState } from "react";
import { type Command, spaceBar, useKeyboard } from "../base/keyboard";
import { RunPage } from "../features/run/RunPage";
import styles from "./App.module.css";
import { ErrorBoundary, KeyboardHelp, Toasts } from "./Shell";
import { HelpButton, Logo, ThemeSelect } from "./TopBar";
import bar from "./TopBar.module.css";
import { applyToPanels } from "./viewCommands";

interface RecordedAppProps {
  /** ID of the run. */
  readonly run: string;
  /** Address of the project. */
  readonly home: string;
}

/** The shell around one recorded run, where no backend is. */
export function RecordedApp({ run, home }: RecordedAppProps) {
  const [help, setHelp] = useState(false);
  useKeyboard((command: Command) => {
    if (command === "pause") spaceBar.get()?.();
    else if (command === "help") setHelp(!help);
    else if (command === "escape") setHelp(false);
    applyToPanels(command);
  });
  return (
    <div className={styles.app}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <header className={bar.bar}>
        <Logo />
        <p className={bar.host}>
          <span className={bar.hostMore}>A recorded run, to look at without installing</span>
        </p>
        <a href={home}>Documentation</a>
        <ThemeSelect />
        <HelpButton onHelp={() => setHelp(true)} />
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        <ErrorBoundary>
          <RunPage id={run} />
        </ErrorBoundary>
      </main>
      <Toasts />
      {help ? <KeyboardHelp onClose={() => setHelp(false)} /> : null}
    </div>
  );
}
