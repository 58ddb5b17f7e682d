/** Stops of a JVM's threads: they wait together until its VM thread lets them go on. */

import { formatDuration, formatValue } from "../format";
import { measured, percent, type RoleTimes, type Rule, withProcess } from "./finding";

/** Name of HotSpot's thread that begins and ends stops, and of those that collect garbage. */
const VM_THREAD = "VM Thread";
const COLLECTORS = /^(?:GC Thread|G1 |ZWorker|XWorker|Shenandoah|CMS |Concurrent |ParGC)/;
/**
 * HotSpot's own threads, by the kernel's names of 15 bytes. The VM thread wakes some of them for
 * work, and they are idle until then.
 */
const HELPERS =
  /^(?:Service Thread|Monitor Deflati|Notification Th|Reference Handl|Signal Dispatch|Sweeper thread|C[\d#] Compiler)/;
/** Thresholds: threads that wait on average, and share of the time in which their role is stopped. */
const STOPPED = 0.1;
const STOPPED_SHARE = 0.1;

export const STOP_RULE: Rule = {
  subject: "stops of a JVM",
  ledger: true,
  find: ({ roles, wakes, seconds }, ease) => {
    const id = "stops";
    const vm = roles.find(({ role }) => role === VM_THREAD);
    if (!vm) return [];
    // A stopped thread waits until the VM thread wakes it, and for nobody else.
    const stopped = wakes.edges
      .filter(({ from, to }) => from === vm.key && to !== vm.key)
      .flatMap(({ to, blocked, per_s }) => {
        const times = roles.find(({ key }) => key === to);
        const share = times ? (blocked * seconds) / times.wall : 0;
        const isStopped = times && !COLLECTORS.test(times.role) && !HELPERS.test(times.role);
        return isStopped ? [{ times, share, blocked, per_s }] : [];
      })
      .filter(({ share }) => share >= ease(id) * STOPPED_SHARE)
      .toSorted((a, b) => b.blocked - a.blocked);
    const blocked = stopped.reduce((sum, each) => sum + each.blocked, 0);
    const [first] = stopped;
    if (!first || blocked < ease(id) * STOPPED) return [];
    const cpu = [vm, ...roles.filter(({ role }) => COLLECTORS.test(role))];
    const cores = cpu.reduce((sum, each) => sum + each.cpu, 0) / seconds;
    const collects = cores >= 0.5 * first.share;
    const names = stopped.slice(0, 3).map(({ times }) => named(times));
    return [
      {
        id,
        text:
          `Threads of the JVM stop together: ${names.join(", ")} ${stopped.length > 1 ? "stand" : "stands"} still ${formatValue(first.share, "share")} of the time, ` +
          `until ${withProcess(VM_THREAD, vm.process)} lets them go on after a safepoint${collects ? ", mostly to collect garbage" : ""}.`,
        numbers: [
          measured(blocked, "threads", "wait for it on average"),
          measured(first.per_s, "1/s", "such waits a second"),
          measured(cores, "cores", "used by it and the collectors"),
        ],
        evidence:
          `Over ${formatDuration(seconds)}. ` +
          `Threshold: ${percent(STOPPED_SHARE)} of a role's time, ${STOPPED} threads.`,
        advice: collects
          ? "Give the heap more room, call no System.gc(), or use a collector that runs beside the program."
          : "The JVM's log says why it stops (-Xlog:safepoint): dumps, deoptimisation, or collections.",
        confidence: "measured",
        link: { panel: "wakes", key: vm.key },
        weight: blocked,
      },
    ];
  },
};

function named({ role, process }: RoleTimes): string {
  return withProcess(role, process);
}
