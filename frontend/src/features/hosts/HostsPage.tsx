/**
 * Feature `hosts`: a window and a search in the address in, the backend's totals by role as a wall
 * of hosts out. It must not read frames.
 */

import { useMemo } from "react";
import { listFleet } from "../../api/fleet";
import { navigate } from "../../base/routing";
import { Button, CommandLine, SearchField, SegmentedControl } from "../../ui/Controls";
import { EmptyState, Notice, ProblemNotice } from "../../ui/Notices";
import type { FleetHosts } from "../../wire/generated/models";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { AcrossPanel } from "./AcrossPanel";
import { ComparePanel } from "./ComparePanel";
import styles from "./Hosts.module.css";
import { type HostsLink, hostsHref, isLive, LIVE_MIN, parseHostsLink, windowQuery } from "./link";
import type { PartProps } from "./props";
import { useFleet } from "./useFleet";
import { WallPanel } from "./WallPanel";
import { WindowControls } from "./WindowControls";

const wallQuery = (link: HostsLink, now_ms: number) => windowQuery(link, now_ms).toString();

/** The page that the address names. */
export function HostsPage({ query }: { readonly query: string }) {
  const link = useMemo(() => parseHostsLink(query), [query]);
  const parts: PartProps = {
    link,
    onLink: (part, how = "push") => navigate(hostsHref({ ...link, ...part }), how),
  };
  const { value, problem, refresh } = useFleet(listFleet, wallQuery, link);
  return (
    <div className={styles.page}>
      <ConnectionNotice />
      <header className={styles.head}>
        <h1>Hosts</h1>
        <SearchField
          label="Search hosts"
          placeholder="Name, label=value, role=…, program=…"
          value={link.search}
          onChange={(search) => parts.onLink({ search }, "replace")}
        />
        <SegmentedControl
          label="View"
          value={link.view}
          choices={[
            { value: "wall", label: "Wall" },
            { value: "across", label: "Across hosts" },
            { value: "compare", label: "Compare sets" },
          ]}
          onChange={(view) => parts.onLink({ view })}
        />
        <WindowControls {...parts} />
      </header>
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value === null && problem === null ? <EmptyState title="Asking all hosts…" /> : null}
      {value === null ? null : <Answer fleet={value} parts={parts} />}
    </div>
  );
}

function Answer({ fleet, parts }: { readonly fleet: FleetHosts; readonly parts: PartProps }) {
  const { link } = parts;
  if (fleet.hosts.length === 0) return <NoHosts link={link} />;
  const past = !isLive(link) || link.last_min > LIVE_MIN;
  return (
    <>
      {fleet.kept ? null : (
        <Notice
          status="info"
          title={past ? "Totals by role are not kept" : "Only the last ten minutes are known"}
        >
          <p>To look back for weeks, start the backend with:</p>
          <CommandLine
            command="tidscope up --keep-roles-days 30"
            what="the command that keeps totals by role"
          />
        </Notice>
      )}
      {fleet.note === null ? null : <Notice status="info" title={fleet.note} />}
      {fleet.roles.length === 0 ? (
        <Notice status="info" title="No host has rows in this window">
          <p>
            A host has rows while tidscope is attached to a process or group on it: open a host and
            attach, or choose another window.
          </p>
        </Notice>
      ) : null}
      {link.view === "wall" ? <WallPanel fleet={fleet} {...parts} /> : null}
      {link.view === "across" ? <AcrossPanel fleet={fleet} {...parts} /> : null}
      {link.view === "compare" ? <ComparePanel fleet={fleet} {...parts} /> : null}
    </>
  );
}

function NoHosts({ link }: { readonly link: HostsLink }) {
  if (!isLive(link)) {
    return (
      <EmptyState title="No host has rows in this window">
        <p>Choose another window; rows are kept for as long as --keep-roles-days says.</p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No host is connected">
      <p>Start a collector on a host, with the secret that tidscope hosts add NAME prints here:</p>
      <CommandLine
        command="sudo --preserve-env=TIDSCOPE_COLLECTOR_SECRET tidscope collect --backend wss://BACKEND/ws/collector"
        what="the command that starts a collector"
      />
    </EmptyState>
  );
}
