/** Feature `flame`: what flame graphs share around their canvas. It must not know what calls are. */

import type { ReactNode } from "react";
import { chainTo, type FlameTree } from "../../chart/flame";
import { Button, SearchField } from "../../ui/Controls";
import styles from "./flame.module.css";

interface FlameBarProps {
  readonly tree: FlameTree;
  readonly zoom: number | null;
  readonly onZoom: (row: number | null) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly label: string;
  readonly placeholder: string;
  /** Summary of the matches; "" without a search. */
  readonly found: string;
  /** Further controls beside the search. */
  readonly children?: ReactNode;
}

/** Search of a flame graph, and the path to its zoomed row. */
export function FlameBar(props: FlameBarProps) {
  const { tree, zoom, onZoom, search, onSearch, label, placeholder, found, children } = props;
  return (
    <>
      <div className={styles.bar}>
        <SearchField label={label} placeholder={placeholder} value={search} onChange={onSearch} />
        <span role="status" className={styles.found}>
          {found}
        </span>
        {children}
      </div>
      <Crumbs tree={tree} zoom={zoom} onZoom={onZoom} />
    </>
  );
}

type CrumbsProps = Pick<FlameBarProps, "tree" | "zoom" | "onZoom">;

/** Path to the zoomed row; nothing while all is shown. */
export function Crumbs({ tree, zoom, onZoom }: CrumbsProps) {
  return zoom === null ? null : (
    <nav aria-label="Zoomed to" className={styles.crumbs}>
      <Button variant="quiet" onClick={() => onZoom(null)}>
        All
      </Button>
      {chainTo(tree, zoom).map((row) => (
        <Button key={row} variant="quiet" aria-current={row === zoom} onClick={() => onZoom(row)}>
          › {tree.name[row]}
        </Button>
      ))}
    </nav>
  );
}

interface FlameDetailProps {
  /** Facts about the row; null without a row. */
  readonly children: ReactNode;
  /** Shown without a row: how to read or use the graph. */
  readonly hint?: string;
}

const HINT = "Click a function to zoom to it, or go through functions with the arrow keys.";

/** The row under the pointer or the zoomed one, in words, below the graph. */
export function FlameDetail({ children, hint = HINT }: FlameDetailProps) {
  return <p className={styles.detail}>{children ?? hint}</p>;
}

/** The lines of a row's tooltip as a sentence. */
export function TipSentence({ lines: [name, ...rest] }: { readonly lines: readonly string[] }) {
  return (
    <>
      <strong>{name}</strong>: {rest.join("; ")}
    </>
  );
}
