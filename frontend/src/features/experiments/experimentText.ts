/** Texts of the Experiments pages. Pure. */

import { counted, formatDuration, formatGain } from "../../stream/format";
import type { ExperimentFigure, ExperimentSummary } from "../../wire/generated/models";

/** Progress of an experiment. */
export function progressText(one: ExperimentSummary): string {
  const cells = `${one.cells_done} of ${counted(one.cells, "cell")}, ${counted(one.repeats, "repeat")}`;
  if (one.state === "complete") return cells;
  const left =
    one.least_left === one.most_left
      ? `${one.least_left}`
      : `${one.least_left} to ${one.most_left}`;
  const time = one.left_s === null ? "" : `, at least ${formatDuration(one.left_s)}`;
  return `${cells}; ${left} left${time}`;
}

const VERDICTS: Readonly<Record<string, string>> = {
  unclear: "no difference shown",
  equal: "no difference",
  unknown: "",
};

/** A gain in percent of the baseline, with interval and verdict; "" if none. */
export function gainText(figure: ExperimentFigure | undefined): string {
  const gain = figure?.gain;
  if (gain === null || gain === undefined || gain.percent === null || !gain.absolute) return "";
  const scale = gain.percent / gain.absolute;
  const [low, high] = [gain.low, gain.high].map((end) => (end === null ? null : end * scale));
  const text = formatGain(gain.percent, low ?? null, high ?? null);
  return `${text} ${VERDICTS[gain.verdict] ?? gain.verdict}`.trim();
}
