import { useRef, useState } from "react";
import type { Finding } from "../../../../model/findings/finding";
import type { FindingsView } from "../../../../model/findings/findings";
import { counted, formatDuration } from "../../../../model/format";
import { Button } from "../../../../ui/Button";
import { Panel } from "../../../../ui/Panel";
import { useLiveClient } from "../../../clients";
import styles from "./FindingsPanel.module.css";
import { followLink } from "./followLink";
import { useFacts } from "./useFacts";

/** Findings shown at first. */
const FEW = 2;

/** What stands out within the window in view, in words; each leads to what shows it. */
export function FindingsPanel() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("findings", place);
  const [all, setAll] = useState(false);
  const findings = view?.findings ?? [];
  const shown = all ? findings : findings.slice(0, FEW);
  const more = findings.length - FEW;
  return (
    <Panel
      title="Findings"
      note={view?.state === "ok" ? `of the last ${formatDuration(view.seconds)} in view` : ""}
      data-panel="findings"
      controls={
        more > 0 ? (
          <Button onClick={() => setAll(!all)}>
            {all ? "Fewer" : counted(more, "more finding")}
          </Button>
        ) : null
      }
    >
      <div ref={place} className={styles.body} data-state={view?.state ?? "waiting"}>
        {findings.length > 0 ? (
          <ul className={styles.list}>
            {shown.map((finding) => (
              <Item key={finding.id} finding={finding} />
            ))}
          </ul>
        ) : (
          <p className={styles.none}>{emptyText(view)}</p>
        )}
      </div>
    </Panel>
  );
}

function Item({ finding }: { readonly finding: Finding }) {
  const client = useLiveClient();
  const { text, evidence, link, id } = finding;
  return (
    <li data-finding={id}>
      <button
        type="button"
        className={styles.finding}
        title={`${evidence} Press to see it.`}
        onClick={() => followLink(client, link)}
      >
        {text}
      </button>
      <p className={styles.evidence}>{evidence}</p>
    </li>
  );
}

function emptyText(view: FindingsView | null): string {
  if (view?.state !== "ok") {
    return "Findings need five seconds of data.";
  }
  const { looked_at, not_looked_at, not_reason } = view;
  const looked = `Nothing stood out. Looked at: ${looked_at.join(", ")}.`;
  if (not_looked_at.length === 0) {
    return looked;
  }
  const why = not_reason === "" ? "they need the ledger of states" : not_reason;
  return `${looked} Not looked at: ${not_looked_at.join(", ")} (${why}).`;
}
