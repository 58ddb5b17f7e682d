/** Processes that say in their titles that they wait, such as `postgres: … UPDATE waiting`. */

import { counted, formatDuration } from "../format";
import { type Finding, measured, measuredTime, type Rule, type TitledStay } from "./finding";

/** Titles of processes that wait for somebody, and of those that may have what others wait for. */
const WAITS = /(?:\S+ )?waiting$/;
const KEEPS = /idle in transaction(?: \(aborted\))?$/;

/** Last words of a title that say that it waits or keeps a transaction; "" without such words. */
export function saidBy(title: string): string {
  return (KEEPS.exec(title) ?? WAITS.exec(title))?.[0] ?? "";
}

/** Minimum number of processes that wait, and length of the waits, in seconds. */
const WAITERS = 2;
const WAIT_S = 5;
/** IDs of processes in a sentence; more are counted. */
const NAMED = 3;

export const TITLE_RULE: Rule = {
  subject: "processes that wait by their titles",
  ledger: true,
  whole: true,
  find: ({ titled }, ease) => {
    const keepers = titled.filter(({ says }) => KEEPS.test(says));
    const roles = new Map<string, TitledStay[]>();
    for (const each of titled) {
      const { role } = each.thread;
      const long = each.seconds >= ease(`title:${role}`) * WAIT_S;
      if (long && WAITS.test(each.says)) roles.set(role, [...(roles.get(role) ?? []), each]);
    }
    return [...roles].flatMap(([role, waits]): readonly Finding[] => {
      const id = `title:${role}`;
      if (waits.length < ease(id) * WAITERS) return [];
      const seconds = formatDuration(Math.min(...waits.map((each) => each.seconds)));
      const said = [...new Set(waits.map(({ says }) => `“${says}”`))].join(", ");
      const own = keepers.filter(({ thread }) => thread.role === role);
      return [
        {
          id,
          text: `${counted(waits.length, "process", "processes")} of ${role} have waited for ${seconds} and longer, by their titles: ${said}.`,
          also: keepersText(own),
          numbers: [
            measured(waits.length, "count", "processes wait"),
            measuredTime(Math.min(...waits.map((each) => each.seconds)), "is the shortest wait"),
            measuredTime(Math.max(...waits.map((each) => each.seconds)), "is the longest wait"),
          ],
          evidence:
            `Titles of processes, and waits that last at the window's end. ` +
            `Threshold: ${WAITERS} processes, ${WAIT_S} s.`,
          advice:
            own.length > 0
              ? "End or commit that transaction, and limit how long a session may be idle in one."
              : "See in the program's own list of locks who holds what they wait for.",
          confidence: "likely",
          link: { panel: "times", key: `role:${role}` },
          weight: waits.length,
        },
      ];
    });
  },
};

/** Clause for processes that may have what others wait for; "" if there are none. */
function keepersText(keepers: readonly TitledStay[]): string {
  const [first] = keepers;
  if (!first) return "";
  const names = keepers.slice(0, NAMED).map(({ thread }) => String(thread.tid));
  const more = keepers.length > NAMED ? ` and ${keepers.length - NAMED} more` : "";
  return `process ${names.join(", ")}${more} may hold what they want, and is “${first.says}”`;
}
