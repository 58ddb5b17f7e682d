import { useCallback, useEffect, useRef, useState } from "react";
import { asProblem } from "../../api/http";
import { getPredictions, getWeights, resetModel } from "../../api/predictions";
import { VIEW_ONLY } from "../../api/session";
import { usePolled } from "../../api/usePolled";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { counted } from "../../stream/format";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Dialog } from "../../ui/Overlays";
import { Panel } from "../../ui/Panel";
import type { PredictionModel, Problem } from "../../wire/generated/models";
import styles from "./DoctorPage.module.css";

const PERIOD_MS = 5000;
const WEIGHTS = 16_384;

/** The models of the prediction service: users, hit rates and contents. */
export function PredictionPanel() {
  const { value, problem, refresh } = usePolled(getPredictions, PERIOD_MS);
  const viewer = useStore(session)?.role === "viewer";
  const [shown, setShown] = useState<PredictionModel | null>(null);
  const [asked, setAsked] = useState<string | null>(null);
  const [refused, setRefused] = useState<Problem | null>(null);
  const reset = async ({ owner, name }: PredictionModel) => {
    setAsked(null);
    setRefused(null);
    try {
      await resetModel(owner, name);
      refresh();
    } catch (error) {
      setRefused(asProblem(error));
    }
  };
  if (value === null) {
    return problem === null ? null : <ProblemNotice problem={problem} />;
  }
  return (
    <Panel title="Predictions" note={value.reason ?? counted(value.models.length, "model")}>
      {refused === null ? null : <ProblemNotice problem={refused} />}
      {value.reason === null ? null : (
        <p className={styles.none}>
          Start it with <code>tidscope predictd</code>. Programs and the policy pss learn together
          through it.
        </p>
      )}
      {value.models.length === 0 ? null : (
        <div className={styles.scroll}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">Owner</th>
                <th scope="col">Sharing</th>
                <th scope="col">Users</th>
                <th scope="col">Updates</th>
                <th scope="col">Hit rate</th>
                <th scope="col">Weights in use</th>
                <th scope="col" aria-label="Actions" />
              </tr>
            </thead>
            <tbody>
              {value.models.map((model) => {
                const key = `${model.owner}/${model.name}`;
                return (
                  <tr key={key} data-model={key}>
                    <th scope="row">{model.name}</th>
                    <td>{model.owner}</td>
                    <td>{model.sharing}</td>
                    <td title={processes(model)}>{model.users}</td>
                    <td>{model.updates}</td>
                    <td>{hitRate(model)}</td>
                    <td>{`${((100 * model.used_weights) / WEIGHTS).toFixed(1)} %`}</td>
                    <td>
                      <Button variant="quiet" onClick={() => setShown(model)}>
                        Weights
                      </Button>
                      <Button
                        variant="quiet"
                        disabled={viewer || !model.administered}
                        title={whyLocked(viewer, model)}
                        onClick={() => (asked === key ? void reset(model) : setAsked(key))}
                      >
                        {asked === key ? "Forget everything" : "Reset"}
                      </Button>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {shown === null ? null : <WeightsDialog model={shown} onClose={() => setShown(null)} />}
    </Panel>
  );
}

/** Share of correct predictions. */
function hitRate({ updates, undecided, hits }: PredictionModel): string {
  const decided = updates - undecided;
  return decided === 0 ? "n/a" : `${((100 * hits) / decided).toFixed(1)} %`;
}

function processes({ shown_users, users }: PredictionModel): string {
  const named = shown_users.map(
    ({ pid, uid, updates }) => `process ${pid} of user ${uid}: ${counted(updates, "update")}`,
  );
  const more = users - shown_users.length;
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

function whyLocked(viewer: boolean, { administered }: PredictionModel): string | undefined {
  if (viewer) {
    return VIEW_ONLY;
  }
  return administered ? undefined : "It belongs to another user than the backend's.";
}

const TABLES = 16;
const ENTRIES = 1024;
const WEIGHTS_PERIOD_MS = 2000;

interface WeightsDialogProps {
  readonly model: PredictionModel;
  readonly onClose: () => void;
}

/** All current weights of a model: one row per feature. */
function WeightsDialog({ model, onClose }: WeightsDialogProps) {
  const { owner, name, limit } = model;
  const load = useCallback((signal: AbortSignal) => getWeights(owner, name, signal), [owner, name]);
  const { value, problem } = usePolled(load, WEIGHTS_PERIOD_MS);
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

/** Draw each weight as a pixel, with an intensity by magnitude. */
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

/** Weights in words. */
function say(weights: readonly number[]): string {
  const used = weights.filter((weight) => weight !== 0);
  if (used.length === 0) {
    return "All are 0.";
  }
  return `${used.length} are not 0, from ${Math.min(...used)} to ${Math.max(...used)}.`;
}
