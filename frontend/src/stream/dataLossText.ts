import type { RunLosses } from "../wire/generated/models";
import { counted, formatDuration } from "./format";

/** Data loss of a run in a few words, or null if none. */
export function missingText(losses: RunLosses): string | null {
  const { frames, truncated_bytes, samples_failed, exit_records_lost } = losses;
  const amounts = [
    frames > 0 ? counted(frames, "frame") : "",
    samples_failed > 0 ? counted(samples_failed, "sample") : "",
    exit_records_lost > 0 ? counted(exit_records_lost, "exit record") : "",
    truncated_bytes > 0 ? counted(truncated_bytes, "byte") : "",
    losses.tail_ns ? `the last ${formatDuration(losses.tail_ns / 1e9)}` : "",
    losses.tail_exits === null ? "exits" : "",
    losses.tail_exits ? counted(losses.tail_exits, "exit") : "",
    losses.processes_missed ? counted(losses.processes_missed, "process", "processes") : "",
    losses.exits_without_event ? counted(losses.exits_without_event, "exit event") : "",
    losses.network_calls_uncounted ? counted(losses.network_calls_uncounted, "network call") : "",
  ].filter((text) => text !== "");
  return amounts.length === 0 ? null : `${amounts.join(", ")} missing`;
}

/** Resource use of the recorded command's children, which the run does not show; null if none. */
export function childrenText(cpuUs: number | null | undefined): string | null {
  return cpuUs
    ? `This run shows one process; its children used ${formatDuration(cpuUs / 1e6)} of CPU that are not in it.`
    : null;
}

/** Lost or late data of a run, in sentences; empty if none is known. */
export function dataLossTexts(losses: RunLosses, childrenCpuUs?: number | null): readonly string[] {
  const { frames, gaps, truncated_bytes, deadlines_missed, samples_failed } = losses;
  const gapsNs = losses.missing_ns - (losses.tail_ns ?? 0);
  const children = childrenText(childrenCpuUs);
  const texts: string[] = children === null ? [] : [children];
  if (frames > 0 || gaps > 0) {
    texts.push(
      `${counted(frames, "frame")} missing in ${counted(gaps, "gap")}, ${formatDuration(gapsNs / 1e9)} in total; totals are correct again after each gap.`,
    );
  }
  if (losses.tail_ns) {
    texts.push(
      `The last ${formatDuration(losses.tail_ns / 1e9)} of the run are missing: ${counted(losses.tail_samples ?? 0, "sample")}.`,
    );
  }
  if (losses.tail_exits === null) {
    texts.push(
      "The collector did not confirm its last frame: an unknown number of exits is missing.",
    );
  } else if (losses.tail_exits) {
    texts.push(`${counted(losses.tail_exits, "exit")} before the end of the run missing.`);
  }
  if (truncated_bytes > 0) {
    texts.push(`${counted(truncated_bytes, "byte")} of an incomplete last frame discarded.`);
  }
  if (samples_failed > 0) {
    texts.push(`${counted(samples_failed, "sample")} could not be taken.`);
  }
  if (deadlines_missed > 0) {
    texts.push(
      `${counted(deadlines_missed, "sample")} due and not taken: the host was busy; totals are whole.`,
    );
  }
  if (losses.exit_records_lost > 0) {
    texts.push(
      `The kernel dropped ${counted(losses.exit_records_lost, "exit record")}; totals of threads that exited then are from their last sample.`,
    );
  }
  if (losses.exits_without_event) {
    texts.push(
      `${counted(losses.exits_without_event, "thread")} exited without an event of its own; totals include them.`,
    );
  }
  if (losses.processes_missed) {
    texts.push(
      `${counted(losses.processes_missed, "process", "processes")} of the group may have been missed.`,
    );
  }
  if (losses.network_calls_uncounted) {
    texts.push(
      `${counted(losses.network_calls_uncounted, "network call")} of the host not counted; network numbers are too low.`,
    );
  }
  if (losses.coalesced > 0) {
    texts.push(
      `${counted(losses.coalesced, "frame")} merged into later ones; totals stay correct.`,
    );
  }
  if (losses.clock_jumps > 0) {
    texts.push(
      `The wall clock was set ${counted(losses.clock_jumps, "time")}; times since attach are not affected.`,
    );
  }
  return texts;
}
