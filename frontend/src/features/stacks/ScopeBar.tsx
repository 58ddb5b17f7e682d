import { type ReactNode, useState } from "react";
import { asProblem } from "../../api/http";
import { withTicket } from "../../api/session";
import { STACK_EXPORTS, type StackExport, stackExportHref } from "../../api/stacks";
import { preciseTime } from "../../base/clock";
import { partName, type TimePart } from "../../stream/breakdown";
import { counted, formatDuration } from "../../stream/format";
import { GROUP_NAMES, STATES, type StateGroup } from "../../stream/states";
import { Button, Checkbox, SearchField, SegmentedControl, Select } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Popover } from "../../ui/Overlays";
import type { Problem } from "../../wire/generated/models";
import { graphQuery, type StacksLink, type StackWindow, spanOf } from "./link";
import type { Grouping } from "./regroup";
import type { StacksProps } from "./StackPane";
import styles from "./stacks.module.css";

/** Selection of the graphs: time, states, and the threads, roles or lock that narrow it. */
export function ScopeBar(props: StacksProps & { readonly children?: ReactNode }) {
  const { link, onLink, children } = props;
  return (
    <section className={`surface ${styles.bar}`} aria-label="What the stacks are of">
      <WindowChoice {...props} />
      {link.lock === null ? <StateSelect link={link} onLink={onLink} /> : null}
      <Chips link={link} onLink={onLink} />
      {children}
    </section>
  );
}

const LENGTHS = ["10", "60", "300", "600"] as const;
const LENGTH_NAMES: Readonly<Record<(typeof LENGTHS)[number], string>> = {
  10: "10 s",
  60: "1 min",
  300: "5 min",
  600: "10 min",
};

/** The time of the stacks. A live window can be frozen, so that the picture stands still. */
function WindowChoice({ subject, link, onLink }: StacksProps) {
  const { window } = link;
  const { run, clock } = subject;
  const freeze = () => {
    const { zero_ms } = clock();
    const { from_ns, to_ns } = spanOf(window, clock());
    onLink({
      window: { kind: "fixed", from_ms: zero_ms + from_ns / 1e6, to_ms: zero_ms + to_ns / 1e6 },
    });
  };
  if (window.kind === "last") {
    return (
      <>
        <SegmentedControl
          label="Time window"
          value={String(window.seconds)}
          choices={LENGTHS.map((value) => ({ value, label: LENGTH_NAMES[value] }))}
          onChange={(seconds) =>
            onLink({ window: { kind: "last", seconds: Number(seconds) } }, "replace")
          }
        />
        <Button onClick={freeze}>Freeze</Button>
      </>
    );
  }
  const back: StackWindow = run === null ? { kind: "last", seconds: 60 } : { kind: "all" };
  return (
    <>
      <span data-window={window.kind}>{windowText(link)}</span>
      {window.kind === "all" ? null : (
        <Button onClick={() => onLink({ window: back })}>
          {run === null ? "Back to live" : "Whole run"}
        </Button>
      )}
    </>
  );
}

/** A window in words: "last 1 min", "12:00:05.2 to 12:00:15.2 (10 s)", "all of the run". */
export function windowText({ window }: Pick<StacksLink, "window">): string {
  switch (window.kind) {
    case "last":
      return `last ${formatDuration(window.seconds).replace(/ 00 s$/, "")}`;
    case "all":
      return "all of the run";
    case "fixed": {
      const length = formatDuration((window.to_ms - window.from_ms) / 1000);
      return `${preciseTime(window.from_ms)} to ${preciseTime(window.to_ms)} (${length})`;
    }
  }
}

type LinkOnly = Pick<StacksProps, "link" | "onLink">;

const GROUP = "group:";
const GROUPS = Object.entries(GROUP_NAMES) as readonly (readonly [StateGroup, string])[];

function statesOf(group: StateGroup): readonly string[] {
  return STATES.filter((state) => state.group === group).map(({ id }) => id);
}

/** Choice of a state, or of all states of a group. */
function StateSelect({ link, onLink }: LinkOnly) {
  const chosen = link.states.join(" ");
  const groups = GROUPS.flatMap(([group, name]) => {
    const ids = statesOf(group);
    return ids.length > 1 ? [{ value: `${GROUP}${group}`, label: `${name} (all)`, ids }] : [];
  });
  const group = groups.find(({ ids }) => ids.join(" ") === chosen);
  const single = STATES.find(({ id }) => id === chosen);
  const value = chosen === "" ? "" : (group?.value ?? single?.id ?? "several");
  return (
    <Select
      label="State"
      value={value}
      choices={[
        { value: "", label: "all states" },
        ...(value === "several" ? [{ value, label: counted(link.states.length, "state") }] : []),
        ...groups.map(({ value, label }) => ({ value, label })),
        ...STATES.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      onChange={(next) =>
        onLink({
          states:
            next === ""
              ? []
              : next === "several"
                ? link.states
                : (groups.find(({ value }) => value === next)?.ids ?? [next]),
        })
      }
    />
  );
}

/** States in words, for headings: "" for all. */
export function statesText(states: readonly string[]): string {
  if (states.length === 0) return "";
  const group = GROUPS.find(([id]) => statesOf(id).join(" ") === states.join(" "));
  if (group !== undefined) return group[1];
  return states.map((state) => partName(state as TimePart) ?? state).join(", ");
}

/** Restrictions to threads, roles or a lock, each with a button that removes it. */
function Chips({ link, onLink }: LinkOnly) {
  const { lock, name, tids, roles } = link;
  const lockName = name === "" ? `lock ${lock}` : name;
  // An empty row would still have its gap.
  if (lock === null && tids.length === 0 && roles.length === 0) return null;
  const thread = (tid: number) => (lock === null && name !== "" ? name : `thread ${tid}`);
  return (
    <span className={styles.chips}>
      {lock === null ? null : (
        <Chip text={`waits for ${lockName}`} onRemove={() => onLink({ lock: null, name: "" })} />
      )}
      {tids.map((tid) => (
        <Chip
          key={tid}
          text={tids.length === 1 ? thread(tid) : `thread ${tid}`}
          onRemove={() =>
            onLink({
              tids: tids.filter((each) => each !== tid),
              ...(lock === null ? { name: "" } : {}),
            })
          }
        />
      ))}
      {roles.map((role) => (
        <Chip
          key={role}
          text={`role ${role}`}
          onRemove={() => onLink({ roles: roles.filter((each) => each !== role) })}
        />
      ))}
    </span>
  );
}

function Chip({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }) {
  return (
    <span className={styles.chip}>
      <span>{text}</span>
      <Button variant="quiet" aria-label={`Without ${text}`} onClick={onRemove}>
        ×
      </Button>
    </span>
  );
}

/** Options of the drawing, and the callback for changes. */
interface DrawingProps {
  readonly link: Grouping & Pick<StacksLink, "search" | "upwards">;
  readonly onLink: (
    part: Partial<Grouping & Pick<StacksLink, "search" | "upwards">>,
    how: "replace",
  ) => void;
}

/** How the graphs are drawn: search, orientation, and frames that are left out or merged. */
export function DrawingBar({ link, onLink }: DrawingProps) {
  const option = (
    name: "foldRecursion" | "hideRuntime" | "hideKernel" | "byModule",
    label: string,
  ) => (
    <Checkbox
      label={label}
      checked={link[name]}
      onChange={(checked) => onLink({ [name]: checked }, "replace")}
    />
  );
  return (
    <section className={`surface ${styles.bar}`} aria-label="How the stacks are drawn">
      <SearchField
        label="Search functions"
        placeholder="Function, file or module"
        value={link.search}
        onChange={(search) => onLink({ search }, "replace")}
      />
      <SegmentedControl
        label="Orientation"
        value={link.upwards ? "up" : "down"}
        choices={[
          { value: "down", label: "Icicle" },
          { value: "up", label: "Flame" },
        ]}
        onChange={(orientation) => onLink({ upwards: orientation === "up" }, "replace")}
      />
      <span className={styles.options}>
        {option("foldRecursion", "Fold recursion")}
        {option("hideRuntime", "Hide runtime frames")}
        {option("hideKernel", "Hide kernel frames")}
        {option("byModule", "Collapse by module")}
      </span>
    </section>
  );
}

const FORMS: Readonly<Record<StackExport, readonly [name: string, what: string]>> = {
  folded: ["Folded text", "For flamegraph.pl, inferno or speedscope"],
  pprof: ["pprof", "For go tool pprof or speedscope"],
  otlp: ["OTLP profiles", "Experimental: the signal is not stable yet"],
};

/** Menu for saving the stacks as a file. */
export function StacksExport({ subject, link }: StacksProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (format: StackExport) => {
    setProblem(null);
    const query = graphQuery(link, spanOf(link.window, subject.clock()), "threads");
    const anchor = document.createElement("a");
    try {
      anchor.href = await withTicket(stackExportHref(link.source, format, query));
      anchor.download = "";
      anchor.click();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <Popover label="Export" face="Export ▾">
      <ul className={styles.forms}>
        {STACK_EXPORTS.map((format) => (
          <li key={format}>
            <button type="button" className={styles.form} onClick={() => void save(format)}>
              {FORMS[format][0]}
            </button>
            <p className="note">{FORMS[format][1]}</p>
          </li>
        ))}
      </ul>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </Popover>
  );
}
