import { useLiveClient } from "../base/liveClient";
import { runHref } from "../base/route";
import { useReadable } from "../base/useReadable";
import { PageLink } from "../ui/PageLink";
import { RecordingDot } from "../ui/RecordingDot";
import styles from "./RecordingSigns.module.css";

/** Runs that are being recorded, on every page. */
export function RecordingSigns() {
  const recordings = useReadable(useLiveClient().live)?.recordings ?? [];
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
