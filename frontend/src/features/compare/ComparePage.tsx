/**
 * Feature `compare`: the comparison in the address in, the backend's answer as panels out. It must
 * not compute differences or intervals.
 */

import { useCallback, useMemo } from "react";
import { isKind } from "../../api/http";
import { compareRuns, listRuns } from "../../api/runs";
import { usePolled } from "../../api/usePolled";
import { localDate } from "../../base/clock";
import { navigate } from "../../base/routing";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { childrenText, missingText } from "../../stream/dataLossText";
import { Button, CopyButton, Select } from "../../ui/Controls";
import { EmptyState, Notice, ProblemNotice, StatusIcon } from "../../ui/Notices";
import { scrollable } from "../../ui/Panel";
import { MAX_COMPARED_RUNS } from "../../wire/generated/limits";
import type { Comparison, RunSummary } from "../../wire/generated/models";
import styles from "./ComparePage.module.css";
import { Alignment, CurvesPanel } from "./CurvesPanel";
import { DifferenceTable } from "./DifferenceTable";
import { Groups, RunSample } from "./Groups";
import { LeadPanel } from "./LeadPanel";
import {
  apiQuery,
  type CompareLink,
  compareHref,
  type PartProps,
  parseLink,
  runsOf,
  withRun,
} from "./link";
import { RoleMatching } from "./RoleMatching";
import { StacksDifference } from "./StacksDifference";
import { StatesPanel } from "./StatesPanel";
import { runOf } from "./side";

/** A comparison of runs. The address holds the whole view. */
export function ComparePage({ query }: { readonly query: string }) {
  const link = useMemo(() => parseLink(query), [query]);
  const runs = runsOf(link);
  const all = usePolled(listRuns, null);
  const asked = apiQuery(link);
  const enough = runs.length > 1;
  const waits = link.align === "mark" && link.mark === "";
  const load = useCallback((signal: AbortSignal) => compareRuns(asked, signal), [asked]);
  const { value, problem, loading, refresh } = usePolled(enough && !waits ? load : null, null);
  // The address is the state; going back must not step through each typed letter.
  const onLink = (next: CompareLink) => navigate(compareHref(next), "replace");
  const known = all.value?.runs ?? [];
  const gone =
    all.value === null ? [] : runs.filter((side) => !known.some(({ id }) => id === runOf(side)));
  const same = value !== null && sameRuns(value, runs);
  return (
    <section className={styles.page} aria-busy={loading}>
      <header className={styles.head}>
        <h1>Compare</h1>
        <AddRun link={link} runs={known} onLink={onLink} />
        {enough ? (
          <CopyButton
            text={`${location.origin}${compareHref(link)}`}
            label="Copy link"
            what="link to this view"
          />
        ) : null}
        <Button onClick={() => navigate("/runs")}>All runs</Button>
      </header>
      {gone.length === 0 ? null : (
        <Notice
          status="warning"
          title={
            gone.length === 1
              ? "A run of this link was not found"
              : `${gone.length} runs of this link were not found`
          }
          actions={<Button onClick={() => onLink(leftOver(link, gone))}>Continue without</Button>}
        >
          {[...new Set(gone.map(runOf))].join(", ")}: deleted (it can be restored for an hour in the
          list of runs), or recorded on another machine.
        </Notice>
      )}
      {all.problem === null || enough ? null : <ProblemNotice problem={all.problem} />}
      {enough ? null : <TooFew link={link} />}
      {problem === null || (isKind(problem, "unknown-run") && gone.length > 0) ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {enough && value === null && problem === null && !waits ? (
        <EmptyState title="Comparing…" />
      ) : null}
      {value !== null && same && enough ? (
        <Parts link={link} comparison={value} onLink={onLink} />
      ) : waits ? (
        <Alignment link={link} onLink={onLink} />
      ) : null}
    </section>
  );
}

function Parts(props: PartProps) {
  return (
    <>
      <IncompleteRuns comparison={props.comparison} />
      <RunsOfOneProcess comparison={props.comparison} />
      <LeadPanel {...props} />
      <SetupTable comparison={props.comparison} />
      <Groups {...props} />
      <div className={styles.beside}>
        <CurvesPanel {...props} />
        <StatesPanel comparison={props.comparison} />
      </div>
      <DifferenceTable {...props} />
      <StacksDifference {...props} />
      <RoleMatching {...props} />
    </>
  );
}

/** Notes on compared runs with data loss. */
function IncompleteRuns({ comparison }: { readonly comparison: Comparison }) {
  const lacking = comparison.runs.flatMap(({ run, name, losses }) => {
    const missing = missingText(losses);
    return missing === null ? [] : [{ run, text: `${name || run}: ${missing}` }];
  });
  return lacking.length === 0 ? null : (
    <Notice
      status="warning"
      title={
        lacking.length === 1 ? "One run is incomplete" : `${lacking.length} runs are incomplete`
      }
    >
      {lacking.map(({ run, text }) => (
        <p key={run}>{text}.</p>
      ))}
    </Notice>
  );
}

/** Notes on compared runs that exclude resource use of their commands' children. */
function RunsOfOneProcess({ comparison }: { readonly comparison: Comparison }) {
  const lacking = comparison.runs.flatMap(({ run, name, children_cpu_us }) => {
    const missing = childrenText(children_cpu_us);
    return missing === null ? [] : [{ run, text: `${name || run}: ${missing}` }];
  });
  return lacking.length === 0 ? null : (
    <Notice status="warning" title="Child processes are missing">
      {lacking.map(({ run, text }) => (
        <p key={run}>{text}</p>
      ))}
    </Notice>
  );
}

function TooFew({ link }: { readonly link: CompareLink }) {
  const one = runsOf(link).length === 1;
  return (
    <EmptyState title={one ? "One run cannot be compared alone" : "Choose runs to compare"}>
      <p>
        {one
          ? "Add another run above. To compare two windows of this run, open it, zoom to a window and press Window A."
          : "Add two to eight runs above, or select them in the list of runs."}
      </p>
      <Button variant="primary" onClick={() => navigate("/runs")}>
        All runs
      </Button>
    </EmptyState>
  );
}

/** Whether an answer is about the requested runs; an earlier answer may not be. */
function sameRuns({ runs }: Comparison, asked: readonly string[]): boolean {
  return runs.length === asked.length && runs.every(({ run }, index) => run === asked[index]);
}

function leftOver(link: CompareLink, gone: readonly string[]): CompareLink {
  const groups = link.groups
    .map((group) => group.filter((run) => !gone.includes(run)))
    .filter((group) => group.length > 0);
  return { ...link, groups, match: link.match.filter(({ run }) => !gone.includes(run)) };
}

interface AddRunProps {
  readonly link: CompareLink;
  readonly runs: readonly RunSummary[];
  readonly onLink: (link: CompareLink) => void;
}

/** Control that adds a run to the comparison. */
function AddRun({ link, runs, onLink }: AddRunProps) {
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

/** Differences between the runs' setups, most important first. */
function SetupTable({ comparison }: { readonly comparison: Comparison }) {
  const { setup, runs } = comparison;
  const colours = CHART_THEMES[useStore(theme)];
  return (
    <section className={styles.panel} aria-label="Setup">
      <header className={styles.panelHead}>
        <h2>Setup</h2>
        <span className={styles.hint}>What differs between the runs besides the figures.</span>
      </header>
      {setup.length === 0 ? (
        <p className={styles.none}>
          <span className={styles.run}>
            <StatusIcon status="ok" /> No known differences: same host, kernel, command and policy.
          </span>
        </p>
      ) : (
        <div className={styles.scroll} {...scrollable("Values of each run")}>
          <table
            className={`${styles.table} ${styles.setup}`}
            style={{ minWidth: `${9 * (runs.length + 1)}rem` }}
          >
            <thead>
              <tr>
                <td className={styles.what} />
                {runs.map(({ run, name }, index) => (
                  <th key={run} scope="col">
                    <span className={styles.run}>
                      <RunSample index={index} theme={colours} /> {name}
                    </span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {setup.map(({ what, values }) => (
                <tr key={what}>
                  <th scope="row">{what}</th>
                  {values.map((value, index) => (
                    <td key={runs[index]?.run ?? index} className={styles.value}>
                      {value}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
