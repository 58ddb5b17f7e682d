import { localDate } from "../../base/clock";
import { Select } from "../../ui/Select";
import { MAX_COMPARED_RUNS } from "../../wire/generated/limits";
import type { RunSummary } from "../../wire/generated/models";
import { type CompareLink, runsOf, withRun } from "./link";

interface AddRunProps {
  readonly link: CompareLink;
  readonly runs: readonly RunSummary[];
  readonly onLink: (link: CompareLink) => void;
}

/** Adds a run to the comparison. */
export function AddRun({ link, runs, onLink }: AddRunProps) {
  const chosen = runsOf(link);
  const others = runs.filter(({ id, state }) => !chosen.includes(id) && state !== "recording");
  const full = chosen.length >= MAX_COMPARED_RUNS;
  const first = full
    ? "at most eight runs"
    : others.length === 0
      ? "no other runs"
      : "choose a run…";
  return (
    <Select
      label="Add"
      value=""
      disabled={full || others.length === 0}
      choices={[
        { value: "", label: first },
        ...others.map(({ id, name, started_unix_us }) => ({
          value: id,
          label: `${name} (${localDate(started_unix_us / 1000)})`,
        })),
      ]}
      onChange={(id) => onLink(id === "" ? link : withRun(link, id))}
    />
  );
}
