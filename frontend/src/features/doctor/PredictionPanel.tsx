import { useState } from "react";
import { getPredictions, resetModel } from "../../api/predictions";
import { asProblem } from "../../api/problem";
import { VIEW_ONLY } from "../../api/session";
import { usePolled } from "../../api/usePolled";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { counted } from "../../stream/format";
import { Button } from "../../ui/Button";
import { Panel } from "../../ui/Panel";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { PredictionModel, Problem } from "../../wire/generated/models";
import styles from "./PredictionPanel.module.css";
import { WeightsDialog } from "./WeightsDialog";

const PERIOD_MS = 5000;
const WEIGHTS = 16_384;

/** The models of the prediction service: who uses them, how often they are right, what they hold. */
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
                      <Button look="quiet" onClick={() => setShown(model)}>
                        Weights
                      </Button>
                      <Button
                        look="quiet"
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

/** Right answers among those that it had a prediction for. */
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
