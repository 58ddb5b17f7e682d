/**
 * Folder `app`: the address in, the shell with the addressed page out. Only main.tsx and tests
 * import it.
 */

import { lazy, Suspense, useEffect, useState } from "react";
import { addressSignIn } from "../api/session";
import { type Command, spaceBar, useKeyboard } from "../base/keyboard";
import type { Route } from "../base/route";
import { navigate, route } from "../base/routing";
import { session } from "../base/session";
import { useStore } from "../base/useStore";
import { LivePage } from "../features/live/LivePage";
import { RunPage } from "../features/run/RunPage";
import { drawerOpen } from "../features/steering/SteerProvider";
import { useLiveClient } from "../stream/client";
import { PageLink } from "../ui/Controls";
import { EmptyState } from "../ui/Notices";
import styles from "./App.module.css";
import { ErrorBoundary, KeyboardHelp, Toasts } from "./Shell";
import { SignInPage } from "./SignInPage";
import { TopBar } from "./TopBar";
import { applyToPanels } from "./viewCommands";

/** Loaded lazily: these are seldom seen first, or bring ECharts or other large code. */
const DoctorPage = lazy(async () => {
  const { DoctorPage } = await import("../features/doctor/DoctorPage");
  return { default: DoctorPage };
});

const ExperimentsPage = lazy(async () => {
  const { ExperimentsPage } = await import("../features/experiments/ExperimentsPage");
  return { default: ExperimentsPage };
});

const HostsPage = lazy(async () => {
  const { HostsPage } = await import("../features/hosts/HostsPage");
  return { default: HostsPage };
});

const RunsPage = lazy(async () => {
  const { RunsPage } = await import("../features/runs/RunsPage");
  return { default: RunsPage };
});

const ComparePage = lazy(async () => {
  const { ComparePage } = await import("../features/compare/ComparePage");
  return { default: ComparePage };
});

const ExperimentPage = lazy(async () => {
  const { ExperimentPage } = await import("../features/experiments/ExperimentPage");
  return { default: ExperimentPage };
});

const TracesPage = lazy(async () => {
  const { TracesPage } = await import("../features/traces/TracesPage");
  return { default: TracesPage };
});

const TracePage = lazy(async () => {
  const { TracePage } = await import("../features/trace/TracePage");
  return { default: TracePage };
});

const StacksPage = lazy(async () => {
  const { StacksPage } = await import("../features/stacks/StacksPage");
  return { default: StacksPage };
});

const SessionDialog = lazy(async () => {
  const { SessionDialog } = await import("./SessionDialog");
  return { default: SessionDialog };
});

const TITLES: Readonly<Partial<Record<Route["page"], string>>> = {
  doctor: "Doctor · tidscope",
  hosts: "Hosts · tidscope",
  runs: "Runs · tidscope",
  compare: "Compare · tidscope",
  experiments: "Experiments · tidscope",
  experiment: "Experiment · tidscope",
  traces: "Traces · tidscope",
  trace: "Trace · tidscope",
  stacks: "Stacks · tidscope",
};

/** The shell around the page that the address names. */
export function App() {
  const client = useLiveClient();
  const at = useStore(route);
  const [help, setHelp] = useState(false);
  const [sessions, setSessions] = useState(false);
  const signedOut = useStore(session) === null;
  const signingIn = useStore(addressSignIn).state === "busy";

  const run = (command: Command) => {
    switch (command) {
      case "pause":
        if (at.page === "run") {
          spaceBar.get()?.();
        } else if (at.page === "live" && client.followed.get() !== null) {
          client.setPaused(!client.view.get().paused);
        }
        break;
      case "steer":
        if (at.page === "live" && client.followed.get() !== null) {
          drawerOpen.set(!drawerOpen.get());
        }
        break;
      case "idle":
        if (at.page === "run" || (at.page === "live" && client.followed.get() !== null)) {
          applyToPanels(command);
        }
        break;
      case "go-live":
        navigate("/");
        break;
      case "go-hosts":
        navigate("/hosts");
        break;
      case "go-runs":
        navigate("/runs");
        break;
      case "go-compare":
        navigate("/compare");
        break;
      case "go-experiments":
        navigate("/experiments");
        break;
      case "go-traces":
        navigate("/traces");
        break;
      case "go-doctor":
        navigate("/doctor");
        break;
      case "help":
        setHelp(!help);
        break;
      case "escape":
        setHelp(false);
        applyToPanels(command);
        break;
      default:
        applyToPanels(command);
    }
  };
  useKeyboard(run);

  useEffect(() => {
    if (signedOut) setSessions(false);
  }, [signedOut]);

  useEffect(() => {
    document.title = TITLES[at.page] ?? "tidscope";
  }, [at.page]);

  return (
    <div className={styles.app}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <TopBar onHelp={() => setHelp(true)} onSessions={() => setSessions(true)} />
      <main id="main" className={styles.main} tabIndex={-1}>
        <ErrorBoundary key={at.page}>
          {signedOut && signingIn ? <EmptyState title="Signing in…" /> : null}
          {signedOut && !signingIn ? <SignInPage /> : null}
          {!signedOut && at.page === "live" ? (
            <LivePage pid={at.pid} target={at.target} mistake={at.mistake} />
          ) : null}
          {!signedOut && at.page === "doctor" ? (
            <Suspense fallback={<EmptyState title="Loading Doctor…" />}>
              <DoctorPage />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "hosts" ? (
            <Suspense fallback={<EmptyState title="Loading hosts…" />}>
              <HostsPage query={at.query} />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "runs" ? (
            <Suspense fallback={<EmptyState title="Loading runs…" />}>
              <RunsPage />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "run" ? <RunPage key={at.id} id={at.id} /> : null}
          {!signedOut && at.page === "compare" ? (
            <Suspense fallback={<EmptyState title="Comparing…" />}>
              <ComparePage query={at.query} />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "experiments" ? (
            <Suspense fallback={<EmptyState title="Loading experiments…" />}>
              <ExperimentsPage />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "experiment" ? (
            <Suspense fallback={<EmptyState title="Loading experiment…" />}>
              <ExperimentPage key={at.id} id={at.id} />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "traces" ? (
            <Suspense fallback={<EmptyState title="Loading traces…" />}>
              <TracesPage query={at.query} />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "trace" ? (
            <Suspense fallback={<EmptyState title="Loading the trace…" />}>
              <TracePage key={at.id} id={at.id} />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "stacks" ? (
            <Suspense fallback={<EmptyState title="Loading stacks…" />}>
              <StacksPage query={at.query} />
            </Suspense>
          ) : null}
          {!signedOut && at.page === "unknown" ? <NotFoundPage path={at.path} /> : null}
        </ErrorBoundary>
      </main>
      <Toasts />
      {help ? <KeyboardHelp onClose={() => setHelp(false)} /> : null}
      {sessions && !signedOut ? (
        <Suspense fallback={null}>
          <SessionDialog onClose={() => setSessions(false)} />
        </Suspense>
      ) : null}
    </div>
  );
}

/** Page for an unknown address. */
function NotFoundPage({ path }: { readonly path: string }) {
  return (
    <EmptyState title="Page not found" page>
      <p>
        <code>{path}</code> does not exist. Go to <PageLink href="/">Live</PageLink>,{" "}
        <PageLink href="/hosts">Hosts</PageLink>, <PageLink href="/runs">Runs</PageLink>,{" "}
        <PageLink href="/compare">Compare</PageLink>,{" "}
        <PageLink href="/experiments">Experiments</PageLink>,{" "}
        <PageLink href="/traces">Traces</PageLink> or <PageLink href="/doctor">Doctor</PageLink>.
      </p>
    </EmptyState>
  );
}
