import { use } from "react";
import { useSelected, useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import type { TableRequest } from "../../stream/viewRequest";
import type { TargetView } from "../../stream/views";
import { Button } from "../../ui/Button";
import { PanelSlotContext } from "../../ui/panelSlot";
import { SearchField } from "../../ui/SearchField";
import { SegmentedControl } from "../../ui/SegmentedControl";
import styles from "./TableBar.module.css";

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

/** What the table shows: filter, grouping, exited threads, columns. */
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
        <span className={styles.count} role="status">
          {view === null ? "" : `${view.total} ${COUNTED[request.group]}`}
          {view !== null && view.folded > 0 ? (
            <span title="The 2,000 most recently exited threads are listed. Process totals include all of them.">
              , {view.folded} exited earlier
            </span>
          ) : null}
        </span>
        {selected === null && pinned.length === 0 ? null : (
          <Button
            look="quiet"
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
