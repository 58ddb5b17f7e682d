import { useEffect } from "react";
import { liveHref } from "../../base/route";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { PageLink } from "../../ui/PageLink";
import type { ExperimentSummary } from "../../wire/generated/models";
import shared from "../compare/ComparePage.module.css";
import { Tiles } from "../tiles/Tiles";
import styles from "./ExperimentsPage.module.css";

/** The repeat that runs, as it runs: the first of its programs in a few numbers. */
export function LiveRepeat({ summary }: { readonly summary: ExperimentSummary }) {
  const client = useLiveClient();
  const live = useStore(client.live);
  const first = summary.targets[0] ?? null;
  useEffect(() => {
    client.follow(first);
    return () => client.follow(null);
  }, [client, first]);
  if (summary.cell === null) return null;
  const target = live?.targets.find(({ id }) => id === first);
  return (
    <section className={shared.panel} aria-label="The repeat that runs">
      <header className={shared.panelHead}>
        <h2>Now: {summary.cell}</h2>
        {summary.targets.map((id, index) => (
          <PageLink key={id} href={liveHref(id)}>
            watch {summary.targets.length > 1 ? (summary.workloads[index] ?? "it") : "it"} live
          </PageLink>
        ))}
      </header>
      <div className={styles.live}>
        {target === undefined ? (
          <p className={shared.hint}>Its programs are being started.</p>
        ) : (
          <Tiles target={target} />
        )}
      </div>
    </section>
  );
}
