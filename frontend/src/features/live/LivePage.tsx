/** Feature `live`: the address in, the picker or a target's page out. */

import { useEffect, useRef } from "react";
import { useLiveClient } from "../../stream/client";
import { EmptyState, Notice, ProblemNotice } from "../../ui/Notices";
import { ConnectionNotice } from "../attach/ConnectionNotice";
import { useAttach } from "../attach/useAttach";
import { Picker } from "../picker/Picker";
import { Scope } from "../scope/TargetPage";
import styles from "./LivePage.module.css";

interface LivePageProps {
  readonly pid: number | null;
  readonly target: string | null;
  readonly mistake: string;
}

/** The picker, or the target that the address names. */
export function LivePage({ pid, target, mistake }: LivePageProps) {
  const client = useLiveClient();
  useEffect(() => {
    client.setPaused(false);
    client.follow(target);
  }, [client, target]);
  return (
    <div className={styles.page}>
      <ConnectionNotice />
      {mistake === "" ? null : <Notice status="warning" title={mistake} />}
      {target !== null ? <Scope key={target} id={target} /> : null}
      {target === null && pid !== null ? <DeepLink key={pid} pid={pid} /> : null}
      {target === null && pid === null ? <Picker /> : null}
    </div>
  );
}

/** Attach to the process that the address names; show the picker if refused. */
function DeepLink({ pid }: { readonly pid: number }) {
  const { attachTo, problem } = useAttach();
  const asked = useRef(false);
  useEffect(() => {
    if (!asked.current) {
      asked.current = true;
      attachTo({ pid }, "replace");
    }
  }, [attachTo, pid]);
  if (problem === null) {
    return <EmptyState title={`Attaching to process ${pid}…`} />;
  }
  return (
    <>
      <ProblemNotice problem={problem} />
      <Picker />
    </>
  );
}
