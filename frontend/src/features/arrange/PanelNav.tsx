import type { MouseEvent } from "react";
import { navigate } from "../../base/routing";
import { useStore } from "../../base/useStore";
import { Button } from "../../ui/Controls";
import { TABS, type TabId } from "../charts/panels";
import styles from "./ArrangedPanels.module.css";
import { arrangement, keepArrangement, shownPanels } from "./arrangementStore";
import { isIn, openTab, tabHref } from "./tabs";

/** Tabs that have a panel on this page, always visible, with a reset to the default order. */
export function PanelNav() {
  const panels = useStore(shownPanels);
  const rearranged = useStore(arrangement) !== "";
  const tabs = TABS.filter((tab) => panels.some(({ id }) => isIn(tab.id, id)));
  return (
    <nav className={styles.nav} aria-label="Panels">
      <ul className={styles.list}>
        {tabs.map(({ id, title }) => (
          <Tab key={id} id={id} title={title} />
        ))}
        {tabs.length > 0 ? <Tab id="all" title="All charts" /> : null}
      </ul>
      {rearranged ? (
        <Button variant="quiet" onClick={() => keepArrangement("")}>
          Default order
        </Button>
      ) : null}
    </nav>
  );
}

function Tab({ id, title }: { readonly id: TabId; readonly title: string }) {
  const open = useStore(openTab) === id;
  const onClick = (event: MouseEvent) => {
    // A modified press opens a browser tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    navigate(tabHref(id));
  };
  return (
    <li>
      <a href={tabHref(id)} aria-current={open ? "page" : undefined} onClick={onClick}>
        {title}
      </a>
    </li>
  );
}
