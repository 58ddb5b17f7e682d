import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import type { FieldGroup, Target } from "../../wire/generated/models";
import styles from "./ColumnChooser.module.css";
import { DEFAULT_COLUMNS, explain, THREAD_FIELDS } from "./columns";

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

/** Which fields the thread table shows, with what each means. */
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
