import { InlineEdit } from "../../ui/InlineEdit";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { MAX_RUN_GROUP, MAX_RUN_NOTES } from "../../wire/generated/limits";
import type { RunManifest } from "../../wire/generated/models";
import styles from "./RunNotes.module.css";
import { parseTags, useRunChange } from "./useRunChange";

interface RunNotesProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** What people say of a run. */
export function RunNotes({ run, onChange }: RunNotesProps) {
  const { change, problem, locked } = useRunChange(run.id, onChange);
  return (
    <section className={`surface ${styles.panel}`} aria-label="Notes">
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <dl className={styles.notes}>
        <div>
          <dt>Tags</dt>
          <dd>
            <InlineEdit
              label="Tags"
              value={run.tags.join(", ")}
              placeholder="none (separate with commas)"
              maxLength={1300}
              disabled={locked}
              onSave={(text) => change({ tags: parseTags(text) })}
            />
          </dd>
        </div>
        <div>
          <dt>Group</dt>
          <dd>
            <InlineEdit
              label="Group"
              value={run.group ?? ""}
              placeholder="none (runs in a group are repeats of each other)"
              maxLength={MAX_RUN_GROUP}
              disabled={locked}
              onSave={(text) => change({ group: text === "" ? null : text })}
            />
          </dd>
        </div>
        <div>
          <dt>Notes</dt>
          <dd>
            <InlineEdit
              label="Notes"
              value={run.notes}
              placeholder="none"
              maxLength={MAX_RUN_NOTES}
              multiline
              disabled={locked}
              onSave={(notes) => change({ notes })}
            />
          </dd>
        </div>
      </dl>
    </section>
  );
}
