import { useCallback, useMemo, useState } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { FlameGraph } from "../../chart/FlameGraph";
import { matchesOf, namesTo, rowOf } from "../../chart/flame";
import { kindGround, plainGround } from "../../chart/flamePalette";
import { CHART_THEMES } from "../../chart/palette";
import { formatNumber } from "../../stream/format";
import { type GoroutineRow, placeText } from "../../stream/goroutines";
import { FlameBar, FlameDetail, TipSentence } from "../flame/FlameBar";
import styles from "./goroutines.module.css";
import { goroutineTree, tipOf } from "./goroutineTree";

const RUNTIME = /^(runtime|internal\/runtime\/\w+)\./;

/** Stacks of goroutines as a flame graph, as wide as their number on average. */
export function GoroutineFlame({ rows }: { readonly rows: readonly GoroutineRow[] }) {
  const colours = CHART_THEMES[useStore(theme)];
  const [path, setPath] = useState<readonly string[]>([]);
  const [search, setSearch] = useState("");
  const [pointed, setPointed] = useState<number | null>(null);
  const tree = useMemo(() => goroutineTree(rows), [rows]);
  const zoom = rowOf(tree, path);
  const searched = (row: number) => `${tree.name[row] ?? ""} ${placeText(tree.frame[row])}`;
  const matches = matchesOf(tree, search, searched);
  const onZoom = (row: number | null) => setPath(row === null ? [] : namesTo(tree, row));
  // Stable while the picture is: the canvas is drawn when it changes.
  const fill = useCallback(
    (row: number) =>
      RUNTIME.test(tree.name[row] ?? "") ? plainGround(colours) : kindGround("go", colours),
    [tree, colours],
  );
  const shown = pointed ?? zoom;
  return (
    <div className={styles.flame}>
      <FlameBar
        label="Search functions"
        placeholder="Function or file"
        {...{ tree, zoom, onZoom, search }}
        onSearch={setSearch}
        found={matches === null ? "" : `${formatNumber(matches.weight, "threads")} goroutines`}
      />
      <FlameGraph
        label="Flame graph of goroutines"
        theme={colours}
        {...{ tree, zoom, onZoom, matches, fill }}
        onPoint={setPointed}
        inWords={(row) => tipOf(tree, row).join("; ")}
        tip={(row) => tipOf(tree, row)}
      />
      <FlameDetail>
        {shown === null ? null : <TipSentence lines={tipOf(tree, shown)} />}
      </FlameDetail>
    </div>
  );
}
