import { useMemo } from "react";
import { formatDifference } from "../../stream/format";
import { StatusIcon } from "../../ui/Notices";
import type {
  ComparedMetric,
  Comparison,
  FigureDifference,
  Verdict,
} from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import { curveMetrics, curveRoles } from "./curvesOption";
import { differenceText, figureText } from "./differences";
import type { CompareLink, PartProps } from "./link";
import { shortLabels, windowOf } from "./side";

/** One difference, and its place in the page. */
interface Leading {
  readonly metric: string;
  readonly role: string | null;
  /** Number of the group compared with the baseline, from 1. */
  readonly group: number;
  readonly verdict: FigureDifference["verdict"];
  readonly text: string;
  /** The interval, and caveats. */
  readonly evidence: string;
}

/** The lead of a comparison. */
interface Lead {
  readonly differences: readonly Leading[];
  /** Why there are no differences; "" if there are some. */
  readonly none: string;
}

const MAX_LEADING = 3;
const JUDGED: readonly FigureDifference["verdict"][] = ["better", "worse", "more", "less"];
/** Assumed growth factor for a figure that was 0 in the baseline. */
const FROM_NOTHING = 10;

/** Minimum relevant difference, by unit of the metric; rates have a "/s" suffix. */
const MIN_DIFFERENCE: Readonly<Record<string, number>> = {
  share: 0.01,
  cores: 0.01,
  "ns/s": 1e7,
  "us/s": 1e4,
  ns: 1e7,
  us: 1e4,
  "bytes/s": 4096,
  bytes: 65_536,
  "count/s": 1,
  count: 1,
  s: 0.01,
};

/** Families of metrics that express the same thing: one of each is enough. */
const FAMILIES: readonly RegExp[] = [
  /^(cpu_run_ns|mean_cores|user_cpu_us|system_cpu_us|share_running.*|share_state_on_cpu)$/,
  /^(cpu_delay_ns|share_runnable|share_state_preempted|share_state_woken)$/,
  /^(ops|ops_per_s|ops_per_j|duration_s)$/,
  /^(voluntary|involuntary)_switches$/,
  /^(minor|major)_faults$|^peak_rss_bytes$/,
  /^disk_/,
  /^net_/,
  /^(energy_j|power_w)$/,
  /^share_/,
  /^pool:/,
];

/** Part of a comparison that is evaluated. */
export type Judged = Pick<Comparison, "metrics" | "groups">;

interface Candidate {
  readonly row: ComparedMetric;
  readonly group: number;
  readonly difference: FigureDifference;
  /** The minimum difference within its interval, relative to the baseline. */
  readonly size: number;
}

/** The three largest differences whose interval excludes 0, each of a different family. */
export function leadOf(comparison: Judged): Lead {
  const { metrics } = comparison;
  const certain = metrics.flatMap(candidatesOf);
  // The process comes first; a role is named if only it differs.
  const ranked = [...certain].sort(
    (a, b) => Number(a.row.role !== null) - Number(b.row.role !== null) || b.size - a.size,
  );
  const chosen = new Map<string, Candidate>();
  for (const candidate of ranked) {
    const family = familyOf(candidate.row.metric);
    if (!chosen.has(family)) chosen.set(family, candidate);
  }
  const differences = Array.from(chosen.values())
    .sort((a, b) => b.size - a.size)
    .slice(0, MAX_LEADING)
    .map((candidate) => leadingOf(comparison, candidate, certain));
  return { differences, none: differences.length > 0 ? "" : whyNone(comparison) };
}

function candidatesOf(row: ComparedMetric): readonly Candidate[] {
  const [first] = row.groups;
  return row.differences.flatMap((difference, index): readonly Candidate[] => {
    const { absolute, low, high, verdict } = difference;
    if (absolute === null || low === null || high === null) return [];
    if (!JUDGED.includes(verdict) || Math.abs(absolute) < (MIN_DIFFERENCE[row.unit] ?? 0))
      return [];
    const least = Math.min(Math.abs(low), Math.abs(high));
    const mean = Math.abs(first?.mean ?? 0);
    const size = mean > 0 ? Math.min(FROM_NOTHING, least / mean) : FROM_NOTHING;
    return [{ row, group: index + 1, difference, size }];
  });
}

function familyOf(metric: string): string {
  const place = FAMILIES.findIndex((family) => family.test(metric));
  return place < 0 ? metric : String(place);
}

function leadingOf(
  { groups }: Judged,
  { row, group, difference }: Candidate,
  certain: readonly Candidate[],
): Leading {
  const { absolute, percent, low, high, verdict, caveat } = difference;
  const [was, is] = [row.groups[0], row.groups[group]].map((figure) =>
    figureText(row, figure?.mean ?? null),
  );
  const labels = shortLabels(groups.map(({ label }) => label));
  const [base, other] = [labels[0] ?? "", labels[group] ?? ""];
  const way = (absolute ?? 0) > 0 ? "higher" : "lower";
  const of = row.role === null ? "" : ` of ${row.role}`;
  const by = percent === null ? "" : ` by ${formatDifference(Math.abs(percent)).slice(1)}`;
  const judged = verdict === "better" || verdict === "worse" ? `, which is ${verdict}` : "";
  const most = row.role === null ? mostlyIn(row, group, absolute ?? 0, certain) : "";
  const interval = `${differenceText(row, low)} to ${differenceText(row, high)}`;
  return {
    metric: row.metric,
    role: row.role,
    group,
    verdict,
    text: `${row.label}${of} is ${way}${by} in ${other}${judged}: ${is}, against ${was} in ${base}${most}.`,
    evidence:
      `95 % confidence interval of the difference: ${interval}.` +
      (caveat === null ? "" : ` ${caveat}`),
  };
}

/** The role with the largest difference in the same direction, if at least half of the total. */
function mostlyIn(
  { metric }: ComparedMetric,
  group: number,
  whole: number,
  certain: readonly Candidate[],
): string {
  const same = certain.filter(
    ({ row, group: of, difference }) =>
      row.metric === metric &&
      row.role !== null &&
      of === group &&
      (difference.absolute ?? 0) * whole > 0,
  );
  const size = ({ difference }: Candidate) => Math.abs(difference.absolute ?? 0);
  const [most] = [...same].sort((a, b) => size(b) - size(a));
  return most && size(most) >= 0.5 * Math.abs(whole) ? `, mostly in ${most.row.role}` : "";
}

function whyNone({ groups, metrics }: Judged): string {
  if (groups.length < 2) return "All runs are repeats of one another: there is nothing to compare.";
  const sliced = metrics.some(({ differences }) =>
    differences.some(({ method }) => method === "slices"),
  );
  const alone = groups.filter(({ runs }) => runs.length < 2);
  if (!sliced && alone.some(({ runs }) => windowOf(runs[0] ?? "") !== null)) {
    return "No difference is certain: windows of less than four seconds, and whole runs beside windows, have no interval.";
  }
  const single = alone.map(({ label }) => label);
  if (!sliced && single.length > 0) {
    return `No difference is certain: ${single.join(" and ")} ${single.length === 1 ? "is" : "are"} of one run. Add repeats to a group to get intervals.`;
  }
  return metrics.length === 0
    ? "These runs have no figure in common."
    : "No difference is certain: all intervals include 0, or what differs is too small to matter.";
}

const ICONS: Partial<Record<Verdict, "ok" | "warning">> = { better: "ok", worse: "warning" };

/** The largest certain differences, one sentence each; a press shows the curves and the row. */
export function LeadPanel({ link, comparison, onLink }: PartProps) {
  const { differences, none } = useMemo(() => leadOf(comparison), [comparison]);
  const metrics = useMemo(() => curveMetrics(comparison), [comparison]);
  const shown = ({ metric, role }: Leading): CompareLink => {
    const rows = role === null ? "process" : "roles";
    if (!metrics.includes(metric)) return { ...link, rows };
    const has = curveRoles(comparison, metric).includes(role ?? "");
    return { ...link, rows, metric, role: has ? (role ?? "") : "" };
  };
  return (
    <section className={shared.panel} aria-label="Largest differences">
      <header className={shared.panelHead}>
        <h2>Largest differences</h2>
        <span className={shared.hint}>Those that are certain, each of another kind.</span>
      </header>
      {differences.length === 0 ? (
        <p className={shared.none}>{none}</p>
      ) : (
        <ol className={shared.list}>
          {differences.map((one) => (
            <li key={`${one.metric} ${one.role ?? ""} ${one.group}`} data-lead={one.metric}>
              <StatusIcon status={ICONS[one.verdict] ?? "info"} />
              <div>
                <button type="button" onClick={() => onLink(shown(one))}>
                  {one.text}
                </button>
                <p className={shared.hint}>{one.evidence}</p>
              </div>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
