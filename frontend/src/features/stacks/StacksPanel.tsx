import { lazy, memo, Suspense, useRef } from "react";
import { session } from "../../base/session";
import { hasBackend } from "../../base/source";
import { useStore } from "../../base/useStore";
import { useVisibility } from "../../chart/useResize";
import { useLiveClient } from "../../stream/client";
import { Button, PageLink } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import type { Target } from "../../wire/generated/models";
import { samplingText } from "./counts";
import { takingStacks, usePlaces } from "./Places";
import styles from "./stacks.module.css";
import { useStackLink } from "./useStackLink";

/** Loaded lazily: most pages open without flame graphs. */
const WindowStacks = lazy(async () => {
  const { WindowStacks } = await import("./WindowStacks");
  return { default: WindowStacks };
});

/** Stacks of the visible window and the selected thread or role; taken only on request. */
export const StacksPanel = memo(function StacksPanel({ target }: { readonly target: Target }) {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const inView = useVisibility(place);
  const taking = useStore(takingStacks);
  const { refusal, retry } = usePlaces();
  const { selected } = useStore(client.view);
  const href = useStackLink()({ key: selected });
  const live = client.extent === null;
  return (
    <Panel
      title="Stacks"
      note="which line of code waits, runs and releases"
      data-panel="stacks"
      controls={
        <span className={styles.controls}>
          {live ? <TakeButton target={target} /> : null}
          {href === null ? null : <PageLink href={href}>On a page of its own</PageLink>}
        </span>
      }
    >
      <div ref={place}>
        {refusal === null ? null : (
          <ProblemNotice problem={refusal} actions={<Button onClick={retry}>Try again</Button>} />
        )}
        {!hasBackend() || (live && !taking) ? (
          <p className={styles.empty}>
            {hasBackend() ? restingText(target) : "Flame graphs need a backend."}
          </p>
        ) : (
          <Suspense fallback={<p className={styles.empty}>Reading stacks…</p>}>
            <WindowStacks target={target} inView={inView} />
          </Suspense>
        )}
      </div>
    </Panel>
  );
});

function restingText({ stacks }: Target): string {
  const cost = "Taking stacks costs the program up to 2 % while it lasts.";
  const others = stacks?.until_unix_us == null ? "" : ` ${samplingText(stacks)}`;
  const reason = stacks == null ? "" : ` ${stacks.reason}`;
  return `${cost} They also name the code in findings, locks and threads.${others}${reason}`.trim();
}

/** Button that has stacks taken while this page is open. */
function TakeButton({ target }: { readonly target: Target }) {
  const taking = useStore(takingStacks);
  const viewer = useStore(session)?.role === "viewer";
  const ended = target.state !== "attached";
  return (
    <Button
      aria-pressed={taking}
      disabled={viewer || ended}
      title={
        viewer ? "Only operators may take stacks." : ended ? "The target has ended." : undefined
      }
      onClick={() => takingStacks.set(!taking)}
    >
      {taking ? "Stop taking stacks" : "Take stacks"}
    </Button>
  );
}
