import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CanvasLayer } from "../../chart/canvasLayer";
import { CHART_THEMES } from "../../chart/palette";
import { useResize } from "../../chart/useResize";
import { counted, formatPercent, formatValue } from "../../stream/format";
import { NATURE_NAMES } from "../../stream/states";
import styles from "./Hosts.module.css";
import { paintWall } from "./paintWall";
import { BAR_NATURES, sharesOf } from "./unusual";
import { gridHeight, gridOf, moved, type Tile, tileAt } from "./wall";

interface WallProps {
  readonly tiles: readonly Tile[];
  readonly onOpen: (tile: Tile) => void;
}

/** Height of the window on the wall, in CSS pixels. */
const MAX_HEIGHT = 640;
const WARNING = { light: "#8a5200", dark: "#e5b35a" } as const;

/** A tile in words. */
export function tileText(tile: Tile): string {
  const shares = sharesOf(tile.states);
  const many = tile.hosts.length > 1 ? `, ${counted(tile.hosts.length, "host")}` : "";
  const name = `${tile.name}${many}`;
  if (shares === null) return `${name}: no rows in this window.`;
  const parts = shares.flatMap((share, at) => {
    const nature = BAR_NATURES[at];
    return nature === undefined || share < 0.005
      ? []
      : [`${NATURE_NAMES[nature]} ${formatPercent(share)}`];
  });
  const last = [...tile.cores].reverse().find(Number.isFinite);
  const cores = last === undefined ? "" : `; ${formatValue(last, "cores")} now`;
  const why = tile.why === "" ? "" : ` Unusual: ${tile.why}.`;
  return `${name}: ${parts.join(", ")}${cores}.${why}`;
}

/** All hosts as tiles on a canvas; only those in view are drawn. */
export function Wall({ tiles, onOpen }: WallProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const layer = useRef<CanvasLayer | null>(null);
  const width = useResize(place);
  const mode = useStore(theme);
  const [top, setTop] = useState(0);
  const [cursor, setCursor] = useState<{ readonly key: string; readonly byKey: boolean } | null>(
    null,
  );

  const grid = gridOf(tiles.length, Math.max(1, width));
  const whole = gridHeight(grid, tiles.length);
  const height = Math.min(whole, MAX_HEIGHT);

  useEffect(() => {
    if (place.current === null) return undefined;
    place.current.tabIndex = 0;
    const made = new CanvasLayer(place.current);
    layer.current = made;
    return () => {
      made.remove();
      layer.current = null;
    };
  }, []);
  useEffect(() => {
    const canvas = layer.current;
    if (canvas?.context == null || width === 0) return;
    canvas.fit(width, height);
    canvas.clear();
    const colours = CHART_THEMES[mode];
    paintWall(
      canvas.context,
      tiles,
      gridOf(tiles.length, width),
      { top, height },
      { ...colours, warning: WARNING[colours.dark ? "dark" : "light"] },
    );
  }, [tiles, width, height, top, mode]);

  // Tiles change places while the page looks: the cursor stays at its host.
  const at = cursor === null ? -1 : tiles.findIndex(({ key }) => key === cursor.key);
  const chosen = at < 0 ? null : (tiles[at] ?? null);
  const pointed = ({ clientX, clientY }: PointerEvent | React.MouseEvent): Tile | null => {
    const box = place.current?.getBoundingClientRect();
    if (box === undefined) return null;
    const found = tileAt(grid, tiles.length, clientX - box.left, clientY - box.top + top);
    return found === null ? null : (tiles[found] ?? null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && chosen !== null) {
      event.preventDefault();
      onOpen(chosen);
      return;
    }
    const next = moved(at < 0 ? null : at, event.key, grid, tiles.length);
    const tile = next === null ? undefined : tiles[next];
    if (next === null || tile === undefined) return;
    event.preventDefault();
    setCursor({ key: tile.key, byKey: true });
    const y = Math.floor(next / grid.columns) * grid.height;
    const box = scroller.current;
    if (box !== null) {
      if (y < box.scrollTop) box.scrollTop = y;
      if (y + grid.height > box.scrollTop + height) box.scrollTop = y + grid.height - height;
    }
  };
  const left = (at % grid.columns) * grid.width;
  const y = Math.floor(at / grid.columns) * grid.height - top;
  return (
    <div className={styles.wall}>
      <div
        ref={scroller}
        className={styles.scroller}
        style={{ height }}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div style={{ height: whole }}>
          <div
            ref={place}
            role="application"
            aria-roledescription="wall of hosts"
            aria-label={`${counted(tiles.length, "tile")}, the most unusual first; arrow keys move, Enter opens`}
            className={styles.plot}
            style={{ height }}
            onKeyDown={onKeyDown}
            onFocus={() => {
              if (cursor === null && tiles[0] !== undefined) {
                setCursor({ key: tiles[0].key, byKey: true });
              }
            }}
            onBlur={() => setCursor(null)}
            onPointerMove={(event) => {
              const tile = pointed(event);
              if (tile?.key !== cursor?.key) {
                setCursor(tile === null ? null : { key: tile.key, byKey: false });
              }
            }}
            onPointerLeave={() => setCursor(null)}
            onClick={(event) => {
              const tile = pointed(event);
              if (tile !== null) onOpen(tile);
            }}
          >
            {chosen === null ? null : (
              <span
                className={styles.cursor}
                style={{ left, top: y, width: grid.width - 4, height: grid.height - 4 }}
              />
            )}
          </div>
        </div>
      </div>
      <p className={styles.said} data-wall-text>
        {chosen === null
          ? "Point at a host, or move with the arrow keys; Enter or a click opens it."
          : tileText(chosen)}
      </p>
      <output aria-live="polite" className="visually-hidden">
        {chosen !== null && cursor?.byKey === true ? tileText(chosen) : ""}
      </output>
    </div>
  );
}
