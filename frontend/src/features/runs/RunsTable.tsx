import { type FormEvent, type KeyboardEvent, type RefObject, useCallback, useState } from "react";
import { localDate, utcTime } from "../../base/clock";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { dataLossTexts, missingText } from "../../stream/dataLossText";
import { formatDuration, formatValue } from "../../stream/format";
import { runCommandLine, runTargetKind, runTargetName } from "../../stream/targetName";
import { Button, PageLink } from "../../ui/Controls";
import { ProblemNotice, RunStateBadge, StatusIcon } from "../../ui/Notices";
import { Dialog, Tooltip } from "../../ui/Overlays";
import { SortHeader } from "../../ui/SortedTable";
import { useRowNavigation } from "../../ui/useRowNavigation";
import { MAX_RUN_GROUP, MAX_RUN_NAME, MAX_RUN_NOTES } from "../../wire/generated/limits";
import type { RunSummary } from "../../wire/generated/models";
import { ExportMenu, parseTags, useRunChange } from "../run/RunHeader";
import styles from "./RunsTable.module.css";
import { failureText, type Order, type RunSort } from "./runList";

interface RunsTableProps {
  readonly root: RefObject<HTMLDivElement | null>;
  readonly runs: readonly RunSummary[];
  readonly order: Order;
  readonly chosen: ReadonlySet<string>;
  readonly locked: boolean;
  readonly onOrder: (order: Order) => void;
  readonly onChoose: (id: string, on: boolean) => void;
  readonly onChange: () => void;
  readonly onDelete: (run: RunSummary) => void;
}

const PAGE = 10;
const COLUMNS: readonly (readonly [RunSort, string, "text" | "number"])[] = [
  ["name", "Run", "text"],
  ["process", "Process", "text"],
  ["started", "Recorded", "text"],
  ["duration", "Length", "number"],
  ["threads", "Threads", "number"],
  ["size", "Size", "number"],
  ["host", "Host", "text"],
  ["state", "State", "text"],
];

/** The runs, one per row; a press on a name opens the run. */
export function RunsTable(props: RunsTableProps) {
  const { root, runs, order, chosen } = props;
  const scrollTo = useCallback(
    (index: number) => {
      root.current?.querySelector(`[data-row="${index}"]`)?.scrollIntoView({ block: "nearest" });
    },
    [root],
  );
  const keys = useRowNavigation(root, runs.length, PAGE, scrollTo);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = event.target instanceof HTMLElement ? event.target.dataset.row : undefined;
    const run = at === undefined ? undefined : runs[Number(at)];
    if (run !== undefined && event.key === "Enter") {
      event.preventDefault();
      navigate(runHref(run.id));
    } else if (run !== undefined && event.key === "x") {
      event.preventDefault();
      props.onChoose(run.id, !chosen.has(run.id));
    } else {
      keys.onKeyDown(event);
    }
  };
  return (
    <div ref={root} className="surface">
      <table className={styles.table}>
        <caption className="visually-hidden">Runs</caption>
        <thead>
          <tr>
            <th scope="col" className={styles.choose}>
              <span className="visually-hidden">Compare</span>
            </th>
            {COLUMNS.map(([by, label, kind]) => (
              <SortHeader
                key={by}
                className={styles[by]}
                label={label}
                numeric={kind === "number"}
                sorted={order.by !== by ? null : order.descending ? "descending" : "ascending"}
                onSort={() =>
                  props.onOrder({
                    by,
                    descending:
                      order.by === by ? !order.descending : kind === "number" || by === "started",
                  })
                }
              />
            ))}
            <th scope="col" className={styles.actions}>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody onKeyDown={onKeyDown}>
          {runs.map((run, index) => (
            <RunRow
              key={run.id}
              run={run}
              index={index}
              reachable={index === keys.active}
              chosen={chosen.has(run.id)}
              locked={props.locked}
              onChoose={props.onChoose}
              onChange={props.onChange}
              onDelete={props.onDelete}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RunRowProps {
  readonly run: RunSummary;
  readonly index: number;
  /** Tab reaches the row's name. */
  readonly reachable: boolean;
  readonly chosen: boolean;
  readonly locked: boolean;
  readonly onChoose: (id: string, on: boolean) => void;
  readonly onChange: () => void;
  readonly onDelete: (run: RunSummary) => void;
}

/** A run in the list. */
function RunRow({ run, index, reachable, chosen, locked, ...on }: RunRowProps) {
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
            variant="quiet"
            disabled={locked}
            aria-label={`Edit ${run.name}`}
            onClick={() => setEditing(true)}
          >
            Edit
          </Button>
          <ExportMenu run={run.id} />
          <Button
            variant="quiet"
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

interface RunEditorProps {
  readonly run: RunSummary;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** Editor of a run's user-defined metadata. */
function RunEditor({ run, onClose, onChange }: RunEditorProps) {
  const [name, setName] = useState(run.name);
  const [tags, setTags] = useState(run.tags.join(", "));
  const [group, setGroup] = useState(run.group ?? "");
  const [notes, setNotes] = useState(run.notes);
  const { change, busy, problem } = useRunChange(run.id, () => {
    onChange();
    onClose();
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    change({
      name: name.trim(),
      tags: parseTags(tags),
      group: group.trim() === "" ? null : group.trim(),
      notes: notes.trim(),
    });
  };
  return (
    <Dialog title={`Edit ${run.name}`} onClose={onClose}>
      <form className={styles.form} onSubmit={save}>
        {problem === null ? null : <ProblemNotice problem={problem} />}
        <label className={styles.field}>
          Name
          <input
            className="text-field"
            value={name}
            maxLength={MAX_RUN_NAME}
            required
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className={styles.field}>
          Tags, separated by commas
          <input
            className="text-field"
            value={tags}
            maxLength={1300}
            onChange={(event) => setTags(event.target.value)}
          />
        </label>
        <label className={styles.field}>
          Group (runs in a group are repeats of each other)
          <input
            className="text-field"
            value={group}
            maxLength={MAX_RUN_GROUP}
            onChange={(event) => setGroup(event.target.value)}
          />
        </label>
        <label className={styles.field}>
          Notes
          <textarea
            className="text-field"
            rows={6}
            value={notes}
            maxLength={MAX_RUN_NOTES}
            onChange={(event) => setNotes(event.target.value)}
          />
        </label>
        <div className={styles.runEditorButtons}>
          <Button type="submit" variant="primary" disabled={busy}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
