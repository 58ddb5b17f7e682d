/** Targets whose last minutes are kept on this host, ended ones included. */

import { useState } from "react";
import { readRing } from "../../api/ring";
import { usePolled } from "../../api/usePolled";
import { localTime } from "../../base/clock";
import { counted, formatDuration, formatValue } from "../../stream/format";
import { targetName } from "../../stream/targetName";
import { Button } from "../../ui/Controls";
import { Notice } from "../../ui/Notices";
import type { RingResponse, RingTrack } from "../../wire/generated/models";
import styles from "./Kept.module.css";
import { KeptWindow } from "./KeptWindow";

const PERIOD_MS = 10_000;

export function KeptTargets({ locked }: { readonly locked: boolean }) {
  const { value } = usePolled(readRing, PERIOD_MS);
  const [chosen, setChosen] = useState<RingTrack | null>(null);
  if (value === null || (!value.on && value.tracks.length === 0)) {
    return null;
  }
  return (
    <>
      {value.disk_full ? (
        <Notice status="warning" title="The last minutes are not kept: the disk is full">
          Make room where the runs are.
        </Notice>
      ) : null}
      <details className={`surface ${styles.list}`}>
        <summary>{keptText(value)}</summary>
        <ul>
          {value.tracks.map((track) => (
            <li key={track.id} data-kept={track.id}>
              <span className={styles.what}>{targetName(track.target)}</span>
              <span className={styles.more}>
                {localTime(track.from_unix_us / 1000)} to {localTime(track.to_unix_us / 1000)},{" "}
                {formatValue(track.bytes, "bytes")}
                {track.target.state === "attached" ? "" : `, ${track.target.state}`}
              </span>
              <Button
                disabled={locked}
                aria-label={`Keep a window of ${targetName(track.target)}`}
                onClick={() => setChosen(track)}
              >
                Keep a window…
              </Button>
            </li>
          ))}
        </ul>
      </details>
      {chosen === null ? null : <KeptWindow track={chosen} onClose={() => setChosen(null)} />}
    </>
  );
}

/** Content of the ring in a line. */
export function keptText(ring: RingResponse): string {
  const age = ring.max_age_s === null ? "" : ` for ${formatDuration(ring.max_age_s)}`;
  const bound = ring.max_bytes === null ? "" : ` of ${formatValue(ring.max_bytes, "bytes")}`;
  const lost = ring.lost === 0 ? "" : ` · ${counted(ring.lost, "frame")} lost`;
  const targets = counted(ring.tracks.length, "target");
  return `Kept at full rate${age}: ${targets}, ${formatValue(ring.bytes, "bytes")}${bound}${lost}`;
}
