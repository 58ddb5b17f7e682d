/**
 * Feature `stacks`: threads, states, lock and time in the address in, the backend's flame graphs
 * out. It must not compute shares or intervals of samples.
 */

import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { framesHref } from "../../api/runs";
import { momentHref } from "../../base/moment";
import { liveHref, runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { useStore, useThrottled } from "../../base/useStore";
import { LiveClientContext, useLiveClient, useRunClient } from "../../stream/client";
import { runSource } from "../../stream/runWindow";
import { targetId, targetName } from "../../stream/targetName";
import { Button, CopyButton, PageLink, SegmentedControl } from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import type { RunManifest } from "../../wire/generated/models";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { GoroutinesPanel } from "../goroutines/GoroutinesPanel";
import { DifferencePanel } from "./DifferenceView";
import {
  type Compared,
  differenceQuery,
  differenceSides,
  isFirst,
  parseStacksLink,
  type StacksLink,
  spanOf,
  stacksHref,
} from "./link";
import { DrawingBar, ScopeBar, StacksExport, statesText, windowText } from "./ScopeBar";
import { SamplingNotice, StackPane, type StacksProps } from "./StackPane";
import styles from "./stacks.module.css";
import { periodOf, type StackSubject, useLease, useLiveSubject, useRunSubject } from "./useStacks";

/** Flame graphs of what the address names. */
export function StacksPage({ query }: { readonly query: string }) {
  const link = useMemo(() => parseStacksLink(query), [query]);
  if (link === null) {
    return (
      <EmptyState title="Stacks of what?" page>
        <p>
          This address names neither a target nor a run. Open a target on{" "}
          <PageLink href="/">Live</PageLink>, or a run in <PageLink href="/runs">Runs</PageLink>,
          and press Stacks there.
        </p>
      </EmptyState>
    );
  }
  const { kind, id } = link.source;
  return (
    <div className={styles.page}>
      <ConnectionNotice />
      {kind === "target" ? (
        <OfTarget key={id} id={id} link={link} />
      ) : (
        <OfRun key={id} id={id} link={link} />
      )}
    </div>
  );
}

interface OfProps {
  readonly id: string;
  readonly link: StacksLink;
}

function OfTarget({ id, link }: OfProps) {
  const { subject, unknown } = useLiveSubject(id);
  if (subject !== null) {
    return <Stacks subject={subject} link={link} goroutines={<GoroutinesPanel />} />;
  }
  return unknown ? (
    <EmptyState title="Unknown target">
      <p>
        <code>{id}</code> may have ended long ago, or tidscope has been restarted since.
      </p>
      <Button variant="primary" onClick={() => navigate("/")}>
        Choose a process
      </Button>
    </EmptyState>
  ) : (
    <EmptyState title="Loading target…" />
  );
}

function OfRun({ id, link }: OfProps) {
  const { subject, problem, run } = useRunSubject(id);
  if (subject !== null && run !== null) {
    const goroutines = <RunGoroutines {...{ run, subject, link }} />;
    return <Stacks subject={subject} link={link} goroutines={goroutines} />;
  }
  return problem === null ? (
    <EmptyState title="Loading run…" />
  ) : (
    <ProblemNotice
      problem={problem}
      actions={<Button onClick={() => navigate("/runs")}>All runs</Button>}
    />
  );
}

interface RunGoroutinesProps {
  readonly run: RunManifest;
  readonly subject: StackSubject;
  readonly link: StacksLink;
}

/** Goroutines of a run in the window of the stacks; a separate client reads them. */
function RunGoroutines({ run, subject, link }: RunGoroutinesProps) {
  const [source] = useState(() => runSource(run, framesHref(run.id)));
  const client = useRunClient(source);
  const { from_ns, to_ns } = spanOf(link.window, subject.clock());
  useEffect(() => {
    client?.request({ window: { kind: "fixed", t0_s: from_ns / 1e9, t1_s: to_ns / 1e9 } });
  }, [client, from_ns, to_ns]);
  return client === null ? null : (
    <LiveClientContext value={client}>
      <GoroutinesPanel />
    </LiveClientContext>
  );
}

interface StacksViewProps {
  readonly subject: StackSubject;
  readonly link: StacksLink;
  /** Panel of goroutines, shown of a Go program. */
  readonly goroutines: ReactNode;
}

function Stacks({ subject, link, goroutines }: StacksViewProps) {
  const { target, run } = subject;
  const viewer = useStore(session)?.role === "viewer";
  const live = run === null && target.state === "attached" && link.window.kind === "last";
  const { problem, retry } = useLease(live ? target.id : null);
  const onLink: StacksProps["onLink"] = (part, how = "push") =>
    navigate(stacksHref({ ...link, ...part }), how);
  const props = { subject, link, onLink };
  const name = run?.name ?? targetName(target);
  useEffect(() => {
    document.title = `Stacks of ${name} · tidscope`;
  }, [name]);
  return (
    <>
      <header className={styles.head}>
        <h1>
          <PageLink href={homeHref(subject, link)}>
            {run === null ? `${name} ${targetId(target)}` : name}
          </PageLink>{" "}
          › Stacks
        </h1>
        <CopyButton
          text={`${window.location.origin}${stacksHref(link)}`}
          label="Copy link"
          what="link to this view"
        />
        <StacksExport {...props} />
      </header>
      <SamplingNotice {...{ subject, problem, viewer }} onRetry={retry} />
      <ScopeBar {...props}>
        <ViewChoice {...props} />
      </ScopeBar>
      <DrawingBar link={link} onLink={onLink} />
      <Views {...props} />
      {(live || run !== null) && target.process.runtime === "go" ? goroutines : null}
    </>
  );
}

/** The subject's page, at the time and thread of the stacks. */
function homeHref({ target, run }: StackSubject, { window, tids }: StacksLink): string {
  const href = run === null ? liveHref(target.id) : runHref(run.id);
  if (window.kind !== "fixed") return href;
  return momentHref(href, { tid: tids.length === 1 ? (tids[0] ?? null) : null, ...window });
}

type ViewKind = "graph" | "before" | "role";

/** Choice between the flame graph and its differences. */
function ViewChoice({ link, onLink, subject }: StacksProps) {
  const roles = useRoleNames(subject);
  const [asking, setAsking] = useState(false);
  const value: ViewKind = asking ? "role" : (link.against?.kind ?? "graph");
  const choices: { readonly value: ViewKind; readonly label: string }[] = [
    { value: "graph", label: "Flame graph" },
  ];
  if (subject.run === null || link.window.kind !== "all") {
    choices.push({ value: "before", label: "Against the time before" });
  }
  if (link.roles.length === 1) choices.push({ value: "role", label: "Against another role" });
  if (choices.length === 1) return null;
  return (
    <>
      <SegmentedControl<ViewKind>
        label="View"
        value={value}
        choices={choices}
        onChange={(view) => {
          setAsking(view === "role");
          if (view === "graph") onLink({ against: null });
          if (view === "before") onLink({ against: { kind: "before" } });
        }}
      />
      {value === "role" ? (
        <RoleField
          role={link.against?.kind === "role" ? link.against.role : ""}
          roles={roles.filter((role) => !link.roles.includes(role))}
          onRole={(role) => {
            setAsking(false);
            onLink({ against: { kind: "role", role } });
          }}
        />
      ) : null}
    </>
  );
}

interface RoleFieldProps {
  readonly role: string;
  readonly roles: readonly string[];
  readonly onRole: (role: string) => void;
}

/** A role by name, applied when finished. */
function RoleField({ role, roles, onRole }: RoleFieldProps) {
  const [text, setText] = useState(role);
  const finish = () => {
    if (text.trim() !== "" && text.trim() !== role) onRole(text.trim());
  };
  return (
    <label className={styles.field}>
      Compared role
      <input
        className="text-field"
        list="stack-roles"
        value={text}
        placeholder="name of a role"
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
        onBlur={finish}
        onKeyDown={(event) => {
          if (event.key === "Enter") finish();
        }}
      />
      <datalist id="stack-roles">
        {roles.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </label>
  );
}

const NO_ROLES: readonly string[] = [];
const ROLES_MS = 2000;

/** Roles of a live target, to choose from; none of a run. */
function useRoleNames({ run }: StackSubject): readonly string[] {
  const client = useLiveClient();
  const live = run === null;
  useEffect(() => (live ? client.mountChart("times", 1, false) : undefined), [client, live]);
  const view = useThrottled(client.chart("times"), ROLES_MS);
  return (live ? view?.times?.roles.map(({ name }) => name) : undefined) ?? NO_ROLES;
}

/** The flame graph, two of a lock's sides, or a difference. */
function Views(props: StacksProps) {
  const { link } = props;
  if (link.against !== null) return <Difference {...props} />;
  const { window, tids, roles, states, lock } = link;
  // Another selection starts empty instead of showing the previous one's stacks.
  const key = JSON.stringify([window.kind, tids, roles, states, lock]);
  return lock === null ? (
    <StackPane
      key={key}
      side="threads"
      title={statesText(states) || "All states"}
      note={windowText(link)}
      {...props}
    />
  ) : (
    <LockPanes key={key} {...props} />
  );
}

const BESIDE = {
  releasers: "Released by",
  holders: "Held by",
} as const;

/** Both sides of a lock: who waits, and who releases or holds it. */
function LockPanes(props: StacksProps): ReactNode {
  const { link, onLink } = props;
  return (
    <div className={styles.beside}>
      <StackPane side="threads" title="Waiting" note={windowText(link)} {...props} />
      <StackPane
        key={link.beside}
        side={link.beside}
        title={BESIDE[link.beside]}
        note={
          link.beside === "releasers"
            ? "code that ended the waits, as wide as the waits"
            : "what those who ended the waits did meanwhile"
        }
        controls={
          <SegmentedControl
            label="Side of the lock"
            value={link.beside}
            choices={[
              { value: "releasers", label: "Released by" },
              { value: "holders", label: "Held by" },
            ]}
            onChange={(beside) => onLink({ beside }, "replace")}
          />
        }
        {...props}
      />
    </div>
  );
}

function Difference({ subject, link }: StacksProps) {
  const { clock } = subject;
  const { source, against, window, tids, roles, states, lock } = link;
  const asked = JSON.stringify({ source, against, window, tids, roles, states, lock });
  const query = useCallback(() => {
    const compared: Compared = JSON.parse(asked);
    return differenceQuery(...differenceSides(compared, clock()));
  }, [asked, clock]);
  if (against?.kind === "before" && isFirst(window, clock())) {
    return (
      <p className={styles.empty} data-reason="">
        Nothing is known of the time before this window: choose a later or shorter one.
      </p>
    );
  }
  return (
    <DifferencePanel
      title={
        against?.kind === "role"
          ? `Role ${link.roles.join(", ")} against ${against.role}`
          : `${windowText(link)} against the time before`
      }
      sides={
        against?.kind === "role"
          ? [`role ${against.role}`, `role ${roles.join(", ")}`]
          : ["the time before", windowText(link)]
      }
      query={query}
      periodMs={periodOf(subject, link)}
      style={link}
    />
  );
}
