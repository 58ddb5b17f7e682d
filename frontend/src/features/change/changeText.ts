/** Changes in sentences. Pure. */

import { formatDuration, formatNumber, formatValue } from "../../stream/format";
import type { Change, ChangeView, Reason, TimeChange } from "../../stream/windowChange";

/** Activity of threads by category: "1.20 threads of worker-# waited for locks". */
const DID: Readonly<Record<Reason, string>> = {
  running: "ran",
  runnable: "were ready and had no CPU",
  locks: "waited for locks",
  disk: "waited for disk and files",
  network: "waited for the network",
  pipes: "waited for pipes and signals",
  faults: "waited in page faults",
  other: "waited for something else",
  parked: "were parked",
  polling: "polled",
  sleep: "slept",
  unsplit: "did something that is not measured",
};

/** Idle categories, which mirror all other changes. */
const IDLE: readonly Reason[] = ["parked", "polling", "sleep", "unsplit"];

const MAX_SENTENCES = 3;

/** The largest changes in the time breakdown; idle categories only if there is no other. */
export function changeSentences({ times }: ChangeView): readonly string[] {
  const active = times.filter(({ reason }) => !IDLE.includes(reason));
  return (active.length > 0 ? active : times).slice(0, MAX_SENTENCES).map(timeSentence);
}

/** "1.37 threads of worker-# waited for locks on average, 0.120 before." */
function timeSentence({ role, reason, before, after }: TimeChange): string {
  const was = before === 0 ? "none before" : `${formatNumber(before, "threads")} before`;
  if (after === 0) {
    const from = formatNumber(before, "threads");
    return `No thread of ${role} ${DID[reason].replace(/^were/, "was")}, ${from} before.`;
  }
  return `${formatNumber(after, "threads")} threads of ${role} ${DID[reason]} on average, ${was}.`;
}

/** "+1.25", "−340 KiB/s". */
export function changeText({ before, after, unit }: Change): string {
  const size = Math.abs(after - before);
  const text = unit === "threads" ? formatNumber(size, unit) : formatValue(size, unit);
  return `${after < before ? "−" : "+"}${text}`;
}

/** Ratio of the values: "3.2 ×"; "new" or "gone" if one of them is zero. */
export function ratioText({ before, after }: Change): string {
  if (before === 0) return "new";
  if (after === 0) return "gone";
  const ratio = after / before;
  return `${formatNumber(ratio, "threads")} ×`;
}

/** The compared spans: "the last 1 min 00 s in view, and the 32.0 s before". */
export function spansText({ before, after }: ChangeView): string {
  const seconds = ({ t0_s, t1_s }: ChangeView["after"]) => t1_s - t0_s;
  const [was, is] = [seconds(before), seconds(after)];
  const less = was < 0.95 * is ? ", which is all that is known" : "";
  return `The ${formatDuration(is)} in view against the ${formatDuration(was)} before${less}.`;
}
