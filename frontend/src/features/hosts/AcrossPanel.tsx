import { useMemo } from "react";
import { askAcross } from "../../api/fleet";
import { counted, formatValue, shownRate } from "../../stream/format";
import { Button, Select } from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import { CATALOGUE } from "../../wire/generated/catalogue";
import type { FleetAcross, FleetHosts, FleetValue } from "../../wire/generated/models";
import { BandsPicture } from "./BandsPicture";
import styles from "./Hosts.module.css";
import { searchOf } from "./hostSearch";
import { acrossQuery } from "./link";
import type { PartProps } from "./props";
import { factorText, MIN_HOSTS, median, outliers, outlierText } from "./unusual";
import { useFleet } from "./useFleet";

const COUNTERS = CATALOGUE.fields
  .filter(({ scope, kind }) => scope === "thread" && kind === "counter")
  .map(({ name, label }) => ({ value: name, label }));
const REST = "all further roles";
/** Sentences about outliers that are shown. */
const MAX_SAID = 8;

interface AcrossProps extends PartProps {
  readonly fleet: FleetHosts;
}

/** Selection of a role; the first of most hosts unless chosen. */
export function RoleSelect({ fleet, link, onLink, all }: AcrossProps & { readonly all?: boolean }) {
  const value = `${link.program ?? ""}\n${link.role ?? ""}`;
  const choices = [...fleet.roles]
    .sort(
      (a, b) => a.program.localeCompare(b.program) || (a.role ?? "").localeCompare(b.role ?? ""),
    )
    .map(({ program, role, hosts }) => ({
      value: `${program}\n${role ?? ""}`,
      label: `${program} → ${role ?? REST} (${counted(hosts, "host")})`,
    }));
  const whole = all === true ? [{ value: "\n", label: "all threads" }] : [];
  const known = [...whole, ...choices];
  const absent = known.some((one) => one.value === value)
    ? []
    : [{ value, label: `${link.program ?? "any program"} → ${link.role ?? "all roles"}` }];
  return (
    <Select
      label="Role"
      value={value}
      choices={[...known, ...absent]}
      onChange={(next) => {
        const [program = "", role = ""] = next.split("\n");
        onLink(program === "" ? { program: null, role: null } : { program, role });
      }}
    />
  );
}

/** One role on all hosts. */
export function AcrossPanel({ fleet, link, onLink }: AcrossProps) {
  const [commonest] = fleet.roles;
  const chosen =
    link.program === null && link.role === null && commonest !== undefined
      ? { ...link, program: commonest.program, role: commonest.role ?? "" }
      : link;
  const { value, problem, refresh } = useFleet(askAcross, acrossQuery, chosen);
  const fits = useMemo(() => searchOf(link.search), [link.search]);
  const shown = useMemo(
    () =>
      value === null
        ? null
        : {
            ...value,
            hosts: value.hosts.filter((host) => fits({ ...host, programs: [], roles: [] })),
          },
    [value, fits],
  );
  return (
    <Panel
      title="Across hosts"
      note={shown === null ? null : `${shown.label}, ${counted(shown.hosts.length, "host")}`}
      controls={
        <>
          <RoleSelect fleet={fleet} link={chosen} onLink={onLink} />
          <Select
            label="Counter"
            value={link.counter}
            choices={COUNTERS}
            onChange={(counter) => onLink({ counter })}
          />
        </>
      }
    >
      <div className={styles.body}>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        {value === null && problem === null ? <p className={styles.hint}>Asking…</p> : null}
        {shown === null ? null : shown.hosts.length === 0 ? (
          <EmptyState title="No host has this">
            <p>
              No host has the role and the counter in this window: choose another role, counter or
              window.
            </p>
          </EmptyState>
        ) : (
          <Answer across={shown} role={chosen.role || REST} />
        )}
      </div>
    </Panel>
  );
}

function Answer({ across, role }: { readonly across: FleetAcross; readonly role: string }) {
  const odd = useMemo(() => outliers(across), [across]);
  const few = across.hosts.length < MIN_HOSTS;
  return (
    <>
      <ul className={styles.sentences} aria-label="Outliers">
        {odd.slice(0, MAX_SAID).map((host) => (
          <li key={host.host}>
            <code>{role}</code> {outlierText(across, host)}
          </li>
        ))}
        {odd.length > MAX_SAID ? <li>{odd.length - MAX_SAID} further hosts are unusual.</li> : null}
        {odd.length > 0 ? null : (
          <li>
            {few
              ? `Outliers are named from ${MIN_HOSTS} hosts on.`
              : "No host is far from the others (five usual spreads)."}
          </li>
        )}
      </ul>
      <BandsPicture across={across} odd={odd} />
      <SortedTable
        label="Hosts with the role"
        columns={columnsOf(across)}
        rows={across.hosts}
        keyOf={({ host }) => host}
        sortedBy="value"
        first={12}
      />
    </>
  );
}

function columnsOf(across: FleetAcross): readonly SortedColumn<FleetValue>[] {
  const middle = median(across.hosts.map(({ value }) => value));
  return [
    { id: "name", label: "Host", text: true, value: ({ name }) => name, cell: ({ name }) => name },
    {
      id: "value",
      label: across.label,
      value: ({ value }) => value,
      cell: ({ value }) => {
        const shown = shownRate(across.counter, value);
        return formatValue(shown.value, shown.unit);
      },
      width: 9,
    },
    {
      id: "ratio",
      label: "× median",
      value: ({ value }) => (middle > 0 ? value / middle : Number.NaN),
      cell: ({ value }) => (middle > 0 ? factorText(value / middle) : ""),
      width: 6,
    },
    {
      id: "threads",
      label: "Threads",
      value: ({ threads }) => threads,
      cell: ({ threads }) => formatValue(threads, "count"),
      width: 6,
    },
    {
      id: "labels",
      label: "Labels",
      text: true,
      value: ({ labels }) => labelsText(labels),
      cell: ({ labels }) => <span title={labelsText(labels)}>{labelsText(labels)}</span>,
      width: 27,
    },
  ];
}

function labelsText(labels: FleetValue["labels"]): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}
