import { useState } from "react";
import { compareHosts } from "../../api/fleet";
import { counted, formatDifference } from "../../stream/format";
import { Button } from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { FleetComparison, FleetHosts, FleetMetric } from "../../wire/generated/models";
import { RoleSelect } from "./AcrossPanel";
import styles from "./Hosts.module.css";
import { compareQuery, type HostsLink } from "./link";
import type { PartProps } from "./props";
import { signedRate } from "./unusual";
import { useFleet } from "./useFleet";

/** Two sets of hosts. */
export function ComparePanel(props: PartProps & { readonly fleet: FleetHosts }) {
  const { link, onLink } = props;
  return (
    <Panel
      title="Two sets of hosts"
      note="each host is a repeat"
      controls={<RoleSelect {...props} all />}
    >
      <div className={styles.body}>
        <SetsForm key={`${link.first}\n${link.other}`} link={link} onLink={onLink} />
        {link.first === "" && link.other === "" ? (
          <EmptyState title="Choose a set of hosts">
            <p>
              Such as <code>canary=true</code>, compared with all other hosts, or two sets:{" "}
              <code>zone=a</code> and <code>zone=b</code>.
            </p>
          </EmptyState>
        ) : (
          <Result link={link} />
        )}
      </div>
    </Panel>
  );
}

function SetsForm({ link, onLink }: PartProps) {
  const [first, setFirst] = useState(link.first);
  const [other, setOther] = useState(link.other);
  return (
    <form
      className={styles.sets}
      onSubmit={(event) => {
        event.preventDefault();
        onLink({ first: first.trim(), other: other.trim() });
      }}
    >
      <label>
        <span>Set of hosts</span>
        <input
          className="text-field"
          value={other}
          placeholder="canary=true"
          onChange={(event) => setOther(event.target.value)}
        />
      </label>
      <label>
        <span>Compared with</span>
        <input
          className="text-field"
          value={first}
          placeholder="all other hosts"
          onChange={(event) => setFirst(event.target.value)}
        />
      </label>
      <Button type="submit" variant="primary">
        Compare
      </Button>
    </form>
  );
}

function Result({ link }: { readonly link: HostsLink }) {
  const { value, problem, refresh } = useFleet(compareHosts, compareQuery, link);
  if (problem !== null) {
    return (
      <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
    );
  }
  if (value === null) return <p className={styles.hint}>Comparing…</p>;
  if (value.first.length === 0 || value.other.length === 0) {
    const empty = value.other.length === 0 ? "The set" : "The set that it is compared with";
    return (
      <EmptyState title={`${empty} has no hosts`}>
        <p>
          No host with rows in this window fits it; a host of both sets counts for the first one.
        </p>
      </EmptyState>
    );
  }
  return <Differences found={value} />;
}

/** Significant differences first, by the ratio of the means. */
export function weightOf({ difference, first, other }: FleetMetric): number {
  const sure = difference.verdict === "more" || difference.verdict === "less";
  const ratio = Math.abs(Math.log((other.mean || 1e-9) / (first.mean || 1e-9)));
  return (sure ? 1000 : 0) + Math.min(ratio, 999);
}

const rate = ({ counter }: FleetMetric, value: number | null) =>
  value === null ? "" : signedRate(counter, value);
const VERDICTS = { more: "more", less: "less", equal: "equal", unclear: "unclear" } as const;
const COLUMNS: readonly SortedColumn<FleetMetric>[] = [
  {
    id: "label",
    label: "Counter",
    text: true,
    value: ({ label }) => label,
    cell: ({ label }) => label,
  },
  {
    id: "weight",
    label: "Verdict",
    tip: "more, less: the 95 % interval of the difference excludes 0.",
    value: weightOf,
    cell: ({ difference }) =>
      `${VERDICTS[difference.verdict as keyof typeof VERDICTS] ?? difference.verdict}${difference.caveat === null ? "" : " *"}`,
    width: 6,
  },
  {
    id: "percent",
    label: "Difference",
    value: ({ difference }) => difference.percent ?? Number.NaN,
    cell: ({ difference }) =>
      difference.percent === null ? "" : formatDifference(difference.percent),
    width: 7,
  },
  {
    id: "interval",
    label: "95 % interval",
    text: true,
    value: ({ difference }) => difference.low ?? Number.NaN,
    cell: (metric) =>
      metric.difference.low === null || metric.difference.high === null
        ? (metric.difference.caveat ?? "")
        : `${rate(metric, metric.difference.low)} to ${rate(metric, metric.difference.high)}`,
    width: 18,
  },
  {
    id: "other",
    label: "Set",
    value: ({ other }) => other.mean ?? Number.NaN,
    cell: (metric) => rate(metric, metric.other.mean),
    width: 8,
  },
  {
    id: "first",
    label: "Compared with",
    value: ({ first }) => first.mean ?? Number.NaN,
    cell: (metric) => rate(metric, metric.first.mean),
    width: 8,
  },
];

function Differences({ found }: { readonly found: FleetComparison }) {
  const sure = found.metrics.filter(({ difference }) =>
    ["more", "less"].includes(difference.verdict),
  );
  return (
    <>
      <p className={styles.hint}>
        {counted(found.other.length, "host")} compared with {found.first.length}, means per host and
        second: {counted(sure.length, "difference")} whose interval excludes 0, of{" "}
        {found.metrics.length} counters. {found.confidence} Of twenty equal counters, one differs by
        chance.
      </p>
      <SortedTable
        label="Differences of two sets of hosts"
        columns={COLUMNS}
        rows={found.metrics}
        keyOf={({ counter }) => counter}
        sortedBy="weight"
        first={12}
      />
    </>
  );
}
