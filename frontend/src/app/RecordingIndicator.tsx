import { useEffect, useRef } from "react";
import { runHref } from "../base/route";
import { navigate } from "../base/routing";
import { toast } from "../base/toasts";
import { useStore } from "../base/useStore";
import { useLiveClient } from "../stream/clients";
import { PageLink } from "../ui/PageLink";
import { RecordingDot } from "../ui/RecordingDot";
import type { Recording } from "../wire/generated/models";
import styles from "./RecordingIndicator.module.css";

const NONE: readonly Recording[] = [];

/** Runs that are being recorded, on every page. */
export function RecordingIndicator() {
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
        <span className={styles.name}>{first.name}</span>
      </PageLink>
      {more > 0 ? <PageLink href="/runs">+{more}</PageLink> : null}
    </span>
  );
}

/** Says so when a recording has ended, whoever or whatever ended it, with the way to the run. */
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
