import type { MouseEvent } from "react";
import { useStore } from "../../base/useStore";
import { Button } from "../../ui/Controls";
import type { PanelId } from "../charts/panels";
import styles from "./ArrangedPanels.module.css";
import { arrangement, keepArrangement, shownPanels } from "./arrangementStore";

/** Panels in the navigation, with short names for narrow pages. */
const SHORT: Readonly<Partial<Record<PanelId, string>>> = {
  map: "Thread map",
  processes: "Processes",
  cpu: "CPU",
  cpu_total: "Cumulative CPU",
  gomaxprocs: "GOMAXPROCS",
  times: "Time",
  network: "Network",
  disk: "Disk",
  switches: "Switches",
  pools: "Pools",
  locks: "Locks",
  stacks: "Stacks",
  threads: "Threads",
};

/** Navigation to each panel, always visible, with a reset to the default order. */
export function PanelNav() {
  const shown = useStore(shownPanels);
  const rearranged = useStore(arrangement) !== "";
  return (
    <nav className={styles.nav} aria-label="Panels">
      <ul className={styles.list}>
        {shown.map(({ id, title }) => {
          const name = id === "gomaxprocs" ? title : SHORT[id];
          return name === undefined ? null : (
            <li key={id}>
              <a href={`#panel-${id}`} title={title} onClick={(event) => goTo(event, id)}>
                {name}
              </a>
            </li>
          );
        })}
      </ul>
      {rearranged ? (
        <Button variant="quiet" onClick={() => keepArrangement("")}>
          Default order
        </Button>
      ) : null}
    </nav>
  );
}

/** Scroll without changing the address, whose query holds the view. */
function goTo(event: MouseEvent, id: PanelId): void {
  const slot = document.getElementById(`panel-${id}`);
  if (slot === null) return;
  event.preventDefault();
  slot.scrollIntoView({ block: "start" });
  slot.focus({ preventScroll: true });
}
