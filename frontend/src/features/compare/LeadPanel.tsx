import { useMemo } from "react";
import { formatDifference } from "../../stream/format";
import { STATES } from "../../stream/states";
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
/** Assumed growth factor for a figure that was 0 in the baseline, or fell to 0. */
const FROM_NOTHING = 10;
/** Ratio from which a change is said as a factor, instead of in percent. */
const FACTOR = 2;

/** Metrics by importance: results, then time blocked; all others follow. */
const TIERS: readonly RegExp[] = [
  /^(result:.*|ops|ops_per_s|ops_per_j|duration_s|pool:.*:(finished|response.*))$/,
  /^(share_(locks|disk|network|pipes|faults|other|runnable|throttled)|share_state_.*)$/,
];
/** Metrics of states in which a thread is not blocked. */
const NOT_BLOCKED: ReadonlySet<string> = new Set(
  STATES.filter(({ id, idle }) => idle || id === "on_cpu").map(({ id }) => `share_state_${id}`),
);

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
  /^share_(throttled|state_throttled)$/,
  /^(ops|ops_per_s|ops_per_j|duration_s)$/,
  /^(voluntary|involuntary)_switches$/,
  /^(minor|major)_faults$|^peak_rss_bytes$/,
  /^disk_/,
  /^net_/,
  /^(energy_j|power_w)$/,
  /^share_(locks|state_futex)$/,
  /^share_(disk|state_(file_.*|page_fault_disk))$/,
  /^share_(network|state_socket_.*)$/,
  /^share_/,
  /^pool:/,
];

/** Part of a comparison that is evaluated. */
export type Judged = Pick<Comparison, "metrics" | "groups">;

interface Candidate {
  readonly row: ComparedMetric;
  readonly group: number;
  readonly difference: FigureDifference;
  /** Place among TIERS. */
  readonly tier: number;
  /**
   * The least difference within its interval: of shares in parts of all, of others the logarithm of
   * the ratio.
   */
  readonly size: number;
}

/** The three differences that matter most and whose interval excludes 0, each of another family. */
export function leadOf(comparison: Judged): Lead {
  const { metrics } = comparison;
  const certain = metrics.flatMap(candidatesOf);
  // The process comes first; a role is named if only it differs.
  const ranked = [...certain].sort(
    (a, b) => Number(a.row.role !== null) - Number(b.row.role !== null) || byWeight(a, b),
  );
  const chosen = new Map<string, Candidate>();
  for (const candidate of ranked) {
    const family = familyOf(candidate.row.metric);
    if (!chosen.has(family)) chosen.set(family, candidate);
  }
  const differences = Array.from(chosen.values())
    .sort(byWeight)
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
    const least = Math.abs(low) < Math.abs(high) ? low : high;
    const size = row.unit === "share" ? Math.abs(least) : logRatio(first?.mean ?? 0, least);
    return [{ row, group: index + 1, difference, tier: tierOf(row.metric), size }];
  });
}

function byWeight(a: Candidate, b: Candidate): number {
  return a.tier - b.tier || b.size - a.size;
}

function tierOf(metric: string): number {
  const place = NOT_BLOCKED.has(metric) ? -1 : TIERS.findIndex((tier) => tier.test(metric));
  return place < 0 ? TIERS.length : place;
}

/** Magnitude of a change as a logarithm: halving and doubling are equally large. */
function logRatio(was: number, change: number): number {
  const ratio = (was + change) / was;
  const most = Math.log(FROM_NOTHING);
  return ratio > 0 && Number.isFinite(ratio) ? Math.min(most, Math.abs(Math.log(ratio))) : most;
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
  const { absolute, verdict, caveat } = difference;
  const [was, is] = [row.groups[0], row.groups[group]].map((figure) => figure?.mean ?? null);
  const [before, after] = [figureText(row, was ?? null), figureText(row, is ?? null)];
  const labels = shortLabels(groups.map(({ label }) => label));
  const [base, other] = [labels[0] ?? "", labels[group] ?? ""];
  const of = row.role === null ? "" : ` of ${row.role}`;
  const judged = verdict === "better" || verdict === "worse" ? `, which is ${verdict}` : "";
  const most = row.role === null ? mostlyIn(row, group, absolute ?? 0, certain) : "";
  const { change, interval } = changeOf(row, was ?? 0, difference);
  return {
    metric: row.metric,
    role: row.role,
    group,
    verdict,
    text: `${row.label}${of} ${change} in ${other}${judged}: ${after}, against ${before} in ${base}${most}.`,
    evidence:
      `95 % confidence interval of the difference: ${interval}.` +
      (caveat === null ? "" : ` ${caveat}`),
  };
}

/** A change and its interval in one unit: points of a share, a factor, or percent. */
function changeOf(
  row: ComparedMetric,
  was: number,
  { absolute, percent, low, high }: FigureDifference,
): { readonly change: string; readonly interval: string } {
  const by = absolute ?? 0;
  const way = by > 0 ? "higher" : "lower";
  const ends = [low ?? by, high ?? by];
  if (row.unit === "share" || percent === null || was <= 0) {
    const size = row.unit === "share" ? ` by ${formatPoints(Math.abs(by))}` : "";
    const text = (end: number) =>
      row.unit === "share" ? signed(end, formatPoints(Math.abs(end))) : differenceText(row, end);
    return { change: `is ${way}${size}`, interval: ends.map(text).join(" to ") };
  }
  const ratio = (was + by) / was;
  if (ratio >= FACTOR || ratio <= 1 / FACTOR) {
    const factors = ends.map((end) => factorText((was + end) / was));
    return { change: `is ${factorText(ratio)} ×`, interval: `${factors.join(" × to ")} ×` };
  }
  return {
    change: `is ${way} by ${formatDifference(Math.abs(percent)).slice(1)}`,
    interval: ends.map((end) => formatDifference((100 * end) / was)).join(" to "),
  };
}

function formatPoints(share: number): string {
  return `${(100 * share).toFixed(1)} points`;
}

function signed(value: number, text: string): string {
  return `${value < 0 ? "−" : "+"}${text}`;
}

function factorText(ratio: number): string {
  return Math.max(0, ratio).toPrecision(2);
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
    return `No difference is certain: ${single.join(" and ")} ${single.length === 1 ? "has one run" : "have one run each"}. Add repeats to a group to get intervals.`;
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
        <span className={shared.hint}>Certain ones only, one of each kind.</span>
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
