import { use } from "react";
import { useSelected, useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import type { TargetView } from "../../stream/targetView";
import type { TableRequest } from "../../stream/viewRequest";
import { Button, SearchField, SegmentedControl } from "../../ui/Controls";
import { Dialog } from "../../ui/Overlays";
import { PanelSlotContext } from "../../ui/Panel";
import type { FieldGroup, Target } from "../../wire/generated/models";
import { DEFAULT_COLUMNS, explain, THREAD_FIELDS } from "./columns";
import styles from "./ThreadTable.module.css";

interface TableBarProps {
  readonly request: TableRequest;
  /** The target is a group of processes. */
  readonly group: boolean;
  readonly onChange: (part: Partial<TableRequest>) => void;
  readonly onColumns: () => void;
  readonly onSearchKey: (event: React.KeyboardEvent) => void;
}

const COUNTED: Readonly<Record<TableRequest["group"], string>> = {
  thread: "threads",
  role: "roles",
  process: "rows",
};

const filterProblemOf = (view: TargetView | null) => view?.filter_problem ?? "";

/** Settings of the table: filter, grouping, exited threads, columns. */
export function TableBar({ request, group, onChange, onColumns, onSearchKey }: TableBarProps) {
  const client = useLiveClient();
  const slot = use(PanelSlotContext);
  const { filter, selected, pinned } = useStore(client.view);
  const view = useStore(client.table);
  const problem = useSelected(client.target, filterProblemOf);
  return (
    <>
      <div className={styles.bar}>
        {slot?.fold}
        <h2>Threads</h2>
        <SearchField
          label="Filter threads"
          placeholder={`Filter by name, role or tid${group ? ", process or pid" : ""} (regular expression)`}
          value={filter}
          problem={problem}
          onChange={(text) => client.request({ filter: text })}
          onKeyDown={onSearchKey}
        />
        <SegmentedControl
          label="Rows"
          value={request.group}
          choices={[
            ...(group ? [{ value: "process", label: "Processes" } as const] : []),
            { value: "thread", label: "Threads" },
            { value: "role", label: "Roles" },
          ]}
          onChange={(rows) => onChange({ group: rows, offset: 0 })}
        />
        <SegmentedControl
          label="Live and exited threads"
          value={request.lives}
          choices={[
            { value: "live", label: "Live" },
            { value: "exited", label: "Exited" },
            { value: "all", label: "All" },
          ]}
          onChange={(lives) => onChange({ lives, offset: 0 })}
        />
        <span className={styles.tableBarCount} role="status">
          {view === null ? "" : `${view.total} ${COUNTED[request.group]}`}
          {view !== null && view.folded > 0 ? (
            <span title="The 2,000 most recently exited threads are listed. Process totals include all of them.">
              , {view.folded} exited earlier
            </span>
          ) : null}
        </span>
        {selected === null && pinned.length === 0 ? null : (
          <Button
            variant="quiet"
            onClick={() => {
              client.select(null);
              client.request({ pinned: [] });
            }}
          >
            Clear selection and pins
          </Button>
        )}
        <Button onClick={onColumns}>Columns</Button>
        {slot?.tools}
      </div>
      {problem === "" ? null : (
        <p className={styles.problem} role="alert">
          Invalid regular expression, no filter applied: {problem}
        </p>
      )}
    </>
  );
}

interface ColumnChooserProps {
  readonly target: Target;
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly onClose: () => void;
}

const GROUPS: Readonly<Record<FieldGroup, string>> = {
  cpu: "CPU",
  wait: "Delays",
  state: "States",
  switches: "Context switches",
  memory: "Memory",
  io: "File I/O",
  disk: "Disk",
  network: "Network",
  pool: "Pool",
};

/** Choice of the table's fields, with the meaning of each. */
export function ColumnChooser({ target, chosen, onChange, onClose }: ColumnChooserProps) {
  const groups = [...new Set(THREAD_FIELDS.map(({ group }) => group))];
  const toggle = (id: string) =>
    onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <Dialog title="Thread table columns" onClose={onClose}>
      <Button onClick={() => onChange(DEFAULT_COLUMNS)}>Reset columns</Button>
      {groups.map((group) => (
        <table key={group} className={styles.group}>
          <thead>
            <tr>
              <th scope="col">{GROUPS[group]}</th>
              <th scope="col">Rate</th>
              <th scope="col">Total</th>
            </tr>
          </thead>
          <tbody>
            {THREAD_FIELDS.filter((field) => field.group === group).map((field) => {
              const reason = target.fields.includes(field.name)
                ? null
                : (target.absent.find((each) => each.field === field.name)?.reason ??
                  "this target does not provide it.");
              return (
                <tr key={field.name} className={reason === null ? "" : styles.absent}>
                  <th scope="row">
                    {field.label}
                    <span className={styles.meaning}>
                      {explain(field, target.source.kind)}
                      {reason === null ? null : (
                        <strong className={styles.reason}> Not available: {reason}</strong>
                      )}
                    </span>
                  </th>
                  {(["rate", "total"] as const).map((shown) => (
                    <td key={shown}>
                      <input
                        type="checkbox"
                        aria-label={`${field.label}, ${shown}`}
                        checked={chosen.includes(`${shown}:${field.name}`)}
                        onChange={() => toggle(`${shown}:${field.name}`)}
                      />
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      ))}
    </Dialog>
  );
}
