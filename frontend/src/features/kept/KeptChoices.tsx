/** Buttons of a menu that keep more of a target than the buffer of the backend has. */

import { useCallback, useState } from "react";
import { readRingOf } from "../../api/ring";
import { usePolled } from "../../api/usePolled";
import { formatDuration } from "../../stream/format";
import { Button } from "../../ui/Controls";
import type { Target } from "../../wire/generated/models";
import { KeptWindow, keep } from "./KeptWindow";

const PERIOD_MS = 10_000;
const US = 1_000_000;
/** Offered spans in seconds, besides all that the ring has. */
const SPANS_S = [900];

interface KeptChoicesProps {
  readonly target: Target;
  readonly disabled: boolean;
  readonly onFail: (error: unknown) => void;
}

/** Nothing where the ring has nothing of the target. */
export function KeptChoices({ target, disabled, onFail }: KeptChoicesProps) {
  const { host } = target;
  const read = useCallback((signal: AbortSignal) => readRingOf(host, signal), [host]);
  const { value } = usePolled(read, PERIOD_MS);
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const track = value?.tracks.find((each) => each.target.id === target.id);
  if (track === undefined) {
    return null;
  }
  const all_s = (track.to_unix_us - track.from_unix_us) / US;
  const cut = async (seconds: number) => {
    setBusy(true);
    try {
      await keep(track, track.to_unix_us - seconds * US, track.to_unix_us);
    } catch (error) {
      onFail(error);
    }
    setBusy(false);
  };
  return (
    <>
      {[...SPANS_S.filter((seconds) => seconds < all_s), all_s].map((seconds) => (
        <Button
          key={seconds === all_s ? "all" : seconds}
          variant="quiet"
          disabled={disabled || busy}
          onClick={() => void cut(seconds)}
        >
          Keep the last {formatDuration(Math.floor(seconds))}
        </Button>
      ))}
      <Button variant="quiet" disabled={disabled || busy} onClick={() => setAsking(true)}>
        Keep a window…
      </Button>
      {asking ? <KeptWindow track={track} onClose={() => setAsking(false)} /> : null}
    </>
  );
}
