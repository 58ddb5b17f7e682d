import { type FormEvent, useState } from "react";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { MAX_RUN_GROUP, MAX_RUN_NAME, MAX_RUN_NOTES } from "../../wire/generated/limits";
import type { RunSummary } from "../../wire/generated/models";
import { parseTags, useRunChange } from "../run/useRunChange";
import styles from "./RunEditor.module.css";

interface RunEditorProps {
  readonly run: RunSummary;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** What people say of a run, all at once. */
export function RunEditor({ run, onClose, onChange }: RunEditorProps) {
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
        <div className={styles.buttons}>
          <Button type="submit" look="primary" disabled={busy}>
            Save
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
