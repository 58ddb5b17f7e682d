import { useState } from "react";
import { localDate, utcTime } from "../../base/clock";
import { runHref } from "../../base/route";
import { runCommandLine } from "../../stream/commandLine";
import { dataLossTexts, missingText } from "../../stream/dataLossText";
import { formatDuration, formatValue } from "../../stream/format";
import { runTargetKind, runTargetName } from "../../stream/targetName";
import { Button } from "../../ui/Button";
import { PageLink } from "../../ui/PageLink";
import { RunStateBadge } from "../../ui/RunStateBadge";
import { StatusIcon } from "../../ui/StatusIcon";
import { Tooltip } from "../../ui/Tooltip";
import type { RunSummary } from "../../wire/generated/models";
import { ExportMenu } from "../run/ExportMenu";
import { RunEditor } from "./RunEditor";
import styles from "./RunsTable.module.css";
import { failureText } from "./runList";

interface RunRowProps {
  readonly run: RunSummary;
  readonly index: number;
  /** Tab reaches its name. */
  readonly reachable: boolean;
  readonly chosen: boolean;
  readonly locked: boolean;
  readonly onChoose: (id: string, on: boolean) => void;
  readonly onChange: () => void;
  readonly onDelete: (run: RunSummary) => void;
}

/** A run in the list. */
export function RunRow({ run, index, reachable, chosen, locked, ...on }: RunRowProps) {
  const [editing, setEditing] = useState(false);
  const failure = failureText(run);
  const losses = dataLossTexts(run.losses, run.children_cpu_us);
  const missing = missingText(run.losses);
  const kind = runTargetKind(run);
  return (
    <tr className={styles.row} data-run={run.id} data-chosen={chosen}>
      <td className={styles.choose}>
        <input
          type="checkbox"
          aria-label={`Compare ${run.name}`}
          checked={chosen}
          onChange={(event) => on.onChoose(run.id, event.target.checked)}
        />
      </td>
      <td className={styles.name}>
        <PageLink
          className={styles.open}
          href={runHref(run.id)}
          data-row={index}
          tabIndex={reachable ? 0 : -1}
        >
          {run.name}
        </PageLink>
        <span className={styles.labels}>
          {run.group === null ? null : (
            <span className={styles.group} title="Group">
              {run.group}
            </span>
          )}
          {run.tags.map((tag) => (
            <span key={tag} className={styles.tag}>
              {tag}
            </span>
          ))}
          {run.policies.map((policy) => (
            <span key={policy} className={styles.policy} title="Policy that steered it">
              {policy}
            </span>
          ))}
          {run.imported ? <span className={styles.tag}>imported</span> : null}
        </span>
        {run.notes === "" ? null : <span className={styles.noted}>{run.notes}</span>}
        {editing ? (
          <RunEditor run={run} onClose={() => setEditing(false)} onChange={on.onChange} />
        ) : null}
      </td>
      <td className={styles.process}>
        <Tooltip text={<code>{runCommandLine(run)}</code>}>
          <code>{runTargetName(run)}</code>
        </Tooltip>
        {kind === null ? null : <span className={styles.kind}>{kind}</span>}
      </td>
      <td className={styles.started} title={utcTime(run.started_unix_us / 1000)}>
        {localDate(run.started_unix_us / 1000)}
      </td>
      <td className={styles.number}>{formatDuration(run.duration_ns / 1e9)}</td>
      <td className={styles.number} data-unit={run.counts.threads === 1 ? "thread" : "threads"}>
        {formatValue(run.counts.threads, "count")}
      </td>
      <td className={styles.number}>{formatValue(run.counts.bytes, "bytes")}</td>
      <td className={styles.host}>{run.host_name}</td>
      <td className={styles.state}>
        <Tooltip text={run.end_detail === "" ? null : run.end_detail}>
          <RunStateBadge state={run.state} />
        </Tooltip>
        {failure === null ? null : (
          <span className={styles.failure} data-failure={failure} title="How the command ended">
            <StatusIcon status="error" />
            {failure}
          </span>
        )}
        {losses.length === 0 ? null : (
          <Tooltip text={losses.join(" ")}>
            <span className={missing === null ? styles.losses : styles.missing}>
              {missing === null ? <StatusIcon status="warning" /> : missing}
              <span className="visually-hidden">{losses.join(" ")}</span>
            </span>
          </Tooltip>
        )}
      </td>
      <td className={styles.actions}>
        <span className={styles.buttons}>
          <Button
            look="quiet"
            disabled={locked}
            aria-label={`Edit ${run.name}`}
            onClick={() => setEditing(true)}
          >
            Edit
          </Button>
          <ExportMenu run={run.id} />
          <Button
            look="quiet"
            disabled={locked || run.state === "recording"}
            aria-label={`Delete ${run.name}`}
            onClick={() => on.onDelete(run)}
          >
            Delete
          </Button>
        </span>
      </td>
    </tr>
  );
}
