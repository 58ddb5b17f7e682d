import { momentHref } from "../../base/moment";
import { runHref } from "../../base/route";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import { dataLossTexts } from "../../stream/dataLossText";
import { formatDuration } from "../../stream/format";
import { Button, PageLink, Select } from "../../ui/Controls";
import { InlineEdit } from "../../ui/InlineEdit";
import { StatusIcon } from "../../ui/Notices";
import { Tooltip } from "../../ui/Overlays";
import type { ComparedRun } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import { runStyle } from "./curvesOption";
import { type PartProps, regrouped, replaced, withBaseline, without } from "./link";
import { runOf, sideOf, typedWindow, windowOf, windowText } from "./side";

/** Sample of a run's line, for a legend. */
export function RunSample({
  index,
  theme,
}: {
  readonly index: number;
  readonly theme: ChartTheme;
}) {
  const { colour, dash, width } = runStyle(index, theme);
  return (
    <svg width="30" height="10" viewBox="0 0 30 10" aria-hidden="true" style={{ flex: "none" }}>
      <path
        d="M0,5H30"
        stroke={colour}
        strokeWidth={width}
        strokeDasharray={dash.join(" ")}
        fill="none"
      />
    </svg>
  );
}

/** The groups of repeats, and the baseline. */
export function Groups({ link, comparison, onLink }: PartProps) {
  const { groups, runs } = comparison;
  return (
    <section className={shared.panel} aria-label="Groups">
      <header className={shared.panelHead}>
        <h2>Runs</h2>
        <span className={shared.hint}>
          Runs of a group are repeats: how much they vary gives the confidence intervals.
        </span>
      </header>
      <ol className={shared.groups}>
        {groups.map((group, index) => (
          <li key={group.runs.join()} className={shared.group} data-baseline={index === 0}>
            <header className={shared.groupHead}>
              <h3 className={shared.groupLabel}>{group.label}</h3>
              {index === 0 ? (
                <span className={shared.base}>baseline</span>
              ) : (
                <Button variant="quiet" onClick={() => onLink(withBaseline(link, index))}>
                  Make baseline
                </Button>
              )}
            </header>
            <ul>
              {runs.map((run, place) =>
                run.group !== index ? null : (
                  <Run
                    key={run.run}
                    run={run}
                    place={place}
                    groups={groups.map(({ label }) => label)}
                    alone={group.runs.length === 1}
                    onGroup={(to) => onLink(regrouped(link, run.run, to))}
                    onSide={(side) => onLink(replaced(link, run.run, side))}
                    onRemove={() => onLink(without(link, run.run))}
                  />
                ),
              )}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface RunProps {
  readonly run: ComparedRun;
  readonly place: number;
  readonly groups: readonly string[];
  /** The only run of its group. */
  readonly alone: boolean;
  readonly onGroup: (to: number | null) => void;
  /** Called with another window of the run. */
  readonly onSide: (side: string) => void;
  readonly onRemove: () => void;
}

function Run({ run, place, groups, alone, onGroup, onSide, onRemove }: RunProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const window = windowOf(run.run);
  const choose = (text: string) => {
    const typed = typedWindow(text);
    const side = typed === undefined ? null : sideOf(runOf(run.run), typed);
    if (side !== null) onSide(side);
  };
  const losses = dataLossTexts(run.losses, run.children_cpu_us);
  return (
    <li className={shared.groupRun} data-run={run.run}>
      <RunSample index={place} theme={colours} />
      <PageLink className={shared.name} href={hrefOf(run)}>
        {run.name}
      </PageLink>
      <span className={shared.hint}>{formatDuration(run.duration_ns / 1e9)}</span>
      <InlineEdit
        label={`Window of ${run.name}, seconds from its start`}
        value={windowText(window)}
        placeholder="whole run"
        maxLength={24}
        onSave={choose}
      />
      {losses.length === 0 ? null : (
        <Tooltip text={losses.join(" ")}>
          <StatusIcon status="warning" />
          <span className="visually-hidden">{losses.join(" ")}</span>
        </Tooltip>
      )}
      <span className={shared.choose}>
        <Select
          label="Group"
          value={String(run.group)}
          choices={[
            ...groups.map((label, index) => ({ value: String(index), label })),
            ...(alone ? [] : [{ value: "new", label: "new group" }]),
          ]}
          onChange={(to) => onGroup(to === "new" ? null : Number(to))}
        />
        <Button variant="quiet" aria-label={`Remove ${run.name}`} onClick={onRemove}>
          ×
        </Button>
      </span>
      {run.align_problem === null ? null : (
        <p className={shared.problem}>
          <StatusIcon status="warning" /> Aligned at its start: {run.align_problem}.
        </p>
      )}
    </li>
  );
}

/** Address of the run at the compared window. */
function hrefOf({ run, started_unix_us, duration_ns }: ComparedRun): string {
  const href = runHref(runOf(run));
  if (windowOf(run) === null) return href;
  const from_ms = started_unix_us / 1000;
  return momentHref(href, { tid: null, from_ms, to_ms: from_ms + duration_ns / 1e6 });
}
