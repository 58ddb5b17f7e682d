import { Button } from "../../ui/Button";
import { SearchField } from "../../ui/SearchField";
import { type CallTree, chainTo, type Matches, nameAt } from "./callTree";
import type { LinkProps } from "./props";
import styles from "./TracesPage.module.css";
import { shareText } from "./text";

interface FlameBarProps extends LinkProps {
  readonly tree: CallTree;
  readonly zoom: number | null;
  readonly onZoom: (row: number | null) => void;
  readonly matches: Matches | null;
}

/** Search of a flame graph, and the way to what it is zoomed to. */
export function FlameBar({ tree, zoom, onZoom, matches, link, onLink }: FlameBarProps) {
  return (
    <>
      <div className={styles.bar}>
        <SearchField
          label="Search calls"
          placeholder="Service or operation"
          value={link.search}
          onChange={(search) => onLink({ search }, "replace")}
        />
        <span role="status" className={styles.hint}>
          {matches === null
            ? ""
            : `${matches.rows.size === 0 ? "nothing" : shareText(matches.share)} matches`}
        </span>
      </div>
      {zoom === null ? null : (
        <nav aria-label="Zoomed to" className={styles.crumbs}>
          <Button look="quiet" onClick={() => onZoom(null)}>
            All
          </Button>
          {chainTo(tree, zoom).map((row) => (
            <Button key={row} look="quiet" aria-current={row === zoom} onClick={() => onZoom(row)}>
              › {nameAt(tree, row)}
            </Button>
          ))}
        </nav>
      )}
    </>
  );
}
