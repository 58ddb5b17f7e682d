/** Event loops that wait in a call, in which they answer nobody. */

import { formatDuration, formatNumber, formatValue } from "../format";
import type { StateId } from "../states";
import { inStates, measured, percent, type Rule, withProcess } from "./finding";

/** Thresholds: polls for each long call, share of the time in these, and socket calls a second. */
const POLLS_EACH = 3;
const HELD_SHARE = 0.1;
const CALLS_PER_S = 5;
const POLLING = 0.05;

export const LOOP_CALL_RULE: Rule = {
  subject: "event loops that wait in calls",
  ledger: true,
  find: ({ loops, seconds, go }, ease) =>
    loops.flatMap(({ thread, polls, calls, held, held_s, held_in, listens }) => {
      const { key, wall, process } = thread;
      const id = `held:${key}`;
      // Any thread of Go polls, and others go on with what comes.
      if (go) return [];
      // Other threads that poll may ask somebody, and pause by nature.
      if (!listens || held === 0 || held_in === null || wall < 0.5 * seconds) return [];
      const polling = inStates(thread, "poll") >= POLLING * wall && calls >= CALLS_PER_S * wall;
      // Between two long calls it answers several: others wait meanwhile.
      if (!polling || polls < ease(id) * POLLS_EACH * held) return [];
      if (held_s < ease(id) * HELD_SHARE * wall) return [];
      const name = withProcess(`${thread.name} (${thread.tid})`, process);
      const all = inStates(thread, held_in);
      return [
        {
          id,
          text:
            `The event loop of ${name} ${WAITS[held_in] ?? "waits in a call"} ${formatNumber(held / wall, "1/s")} times a second, ` +
            `${formatValue(all / held, "s")} each time, in which it answers nobody: ${formatValue(all / wall, "share")} of all time.`,
          numbers: [
            measured(all / wall, "share", "of its time in such calls"),
            measured(polls / seconds, "1/s", "polls a second"),
            measured(calls / seconds, "1/s", "socket calls a second"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. Threshold: ${percent(HELD_SHARE)} of its time in calls of 34 ms and longer, ` +
            `and ${POLLS_EACH} polls for each.`,
          advice: "Await it, or do it in a thread: a loop should wait for nothing but its events.",
          confidence: "likely" as const,
          link: { panel: "times" as const, key },
          weight: all / seconds,
        },
      ];
    }),
};

/** Waits of a loop in words. */
const WAITS: Partial<Record<StateId, string>> = {
  sleep: "sleeps in a call",
  futex: "sleeps in a call",
  socket_receive: "waits in a call for bytes of a socket",
  socket_send: "waits in a call to send",
  socket_connect: "waits in a call to connect",
  pipe: "waits in a call for a pipe",
  file_read_disk: "reads files from the disk",
  file_write_disk: "writes files to the disk",
  file_sync: "syncs files",
  file_sync_disk: "syncs files",
};
