import { useCallback, useEffect, useRef } from "react";
import { getWeights } from "../../api/predictions";
import { usePolled } from "../../api/usePolled";
import { Dialog } from "../../ui/Dialog";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { PredictionModel } from "../../wire/generated/models";
import styles from "./PredictionPanel.module.css";

const TABLES = 16;
const ENTRIES = 1024;
const PERIOD_MS = 2000;

interface WeightsDialogProps {
  readonly model: PredictionModel;
  readonly onClose: () => void;
}

/** All weights of a model as they are now: a row for each feature. */
export function WeightsDialog({ model, onClose }: WeightsDialogProps) {
  const { owner, name, limit } = model;
  const load = useCallback((signal: AbortSignal) => getWeights(owner, name, signal), [owner, name]);
  const { value, problem } = usePolled(load, PERIOD_MS);
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context && value !== null) {
      draw(context, value.weights, limit);
    }
  }, [value, limit]);
  const weights = value?.weights ?? [];
  return (
    <Dialog title={`Weights of ${name}`} onClose={onClose}>
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <canvas
        ref={canvas}
        className={styles.weights}
        width={ENTRIES}
        height={TABLES}
        role="img"
        aria-label={`16 tables of 1024 weights, within ± ${limit}`}
      />
      <p>A row for each feature, 1024 weights each: green says yes, red no. {say(weights)}</p>
    </Dialog>
  );
}

/** Draw each weight as a pixel, the stronger the larger it is. */
function draw(context: CanvasRenderingContext2D, weights: readonly number[], limit: number): void {
  const tokens = getComputedStyle(context.canvas);
  const yes = tokens.getPropertyValue("--ok");
  const no = tokens.getPropertyValue("--error");
  context.clearRect(0, 0, ENTRIES, TABLES);
  weights.forEach((weight, place) => {
    if (weight !== 0) {
      context.globalAlpha = 0.3 + (0.7 * Math.abs(weight)) / limit;
      context.fillStyle = weight > 0 ? yes : no;
      context.fillRect(place % ENTRIES, Math.floor(place / ENTRIES), 1, 1);
    }
  });
}

/** What the weights are, in words. */
function say(weights: readonly number[]): string {
  const used = weights.filter((weight) => weight !== 0);
  if (used.length === 0) {
    return "All are 0.";
  }
  return `${used.length} are not 0, from ${Math.min(...used)} to ${Math.max(...used)}.`;
}
