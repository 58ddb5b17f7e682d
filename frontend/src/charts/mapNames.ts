/** What stands left of the thread map: names of roles, bands of their colours, what the ticks mean. */

import { graphic } from "echarts/core";
import type { MapGroup, MapLayout } from "../model/mapLayout";
import type { MapPicture } from "../model/mapPicture";
import { type MapPlot, rowBox, STRIP_PX } from "./mapPlot";
import { type ChartTheme, colourStyle } from "./palette";

/** Names of roles need so much height. */
const LABEL_PX = 13;
const BAND_PX = 4;
/** A row this high has a band of its own. */
const BANDED_PX = 6;

/** See `Holder` in surface.ts. */
interface Holder {
  add(element: unknown): unknown;
}

export class MapNames {
  readonly group = new graphic.Group({ silent: true });
  private readonly held: Holder = this.group;
  private readonly labels: InstanceType<typeof graphic.Text>[] = [];
  private readonly bands: InstanceType<typeof graphic.Rect>[] = [];
  private readonly turnover = new graphic.Text({ silent: true, z: 2, ignore: true });
  private laid = "";

  constructor() {
    this.held.add(this.turnover);
  }

  /** Size or theme changed: lay everything out the next time. */
  forget(): void {
    this.laid = "";
  }

  /** Lay names out, as many as have room, and their colours; null: an empty map. */
  lay(picture: MapPicture | null, plot: MapPlot, theme: ChartTheme): void {
    const key = [picture?.edition ?? -1, plot.left, plot.edges.length, theme.dark].join();
    if (key === this.laid) return;
    this.laid = key;
    this.layBands(picture ? bandsOf(picture.layout, plot) : [], plot, theme);
    this.layLabels(picture?.layout.groups ?? [], plot, theme);
    this.turnover.attr({
      ignore: !picture,
      x: plot.left - BAND_PX - 8,
      y: plot.top - STRIP_PX / 2 - 1,
    });
    this.turnover.setStyle({
      text: plot.left > 100 ? "born ▴  exited ▾" : "born/exit",
      align: "right",
      verticalAlign: "middle",
      fill: theme.muted,
      font: `10px ${theme.font}`,
    });
  }

  private layBands(coloured: readonly Band[], plot: MapPlot, theme: ChartTheme): void {
    const { bands } = this;
    for (const [i, { row, rows, colour }] of coloured.entries()) {
      const { y, height } = rowBox(plot, row, rows);
      const band = bands[i] ?? this.addBand();
      const x = plot.left - BAND_PX - 3;
      band.attr({
        ignore: false,
        shape: { x, y, width: BAND_PX, height: Math.max(1, height - 1) },
      });
      band.setStyle({ fill: colourStyle(colour, theme).colour });
    }
    for (const band of bands.slice(coloured.length)) band.attr({ ignore: true });
  }

  private layLabels(groups: readonly MapGroup[], plot: MapPlot, theme: ChartTheme): void {
    const { labels } = this;
    let used = 0;
    // Below the name of the strip of births and exits.
    let below = plot.top - STRIP_PX / 2 + 4;
    for (const group of groups) {
      const { y, height } = rowBox(plot, group.row, group.rows);
      const middle = y + height / 2;
      if (middle - LABEL_PX / 2 < below) continue;
      below = middle + LABEL_PX / 2;
      const label = labels[used] ?? this.addLabel();
      used++;
      const count = group.threads > 1 ? ` ×${group.threads}` : "";
      const own = height >= 2 * LABEL_PX && plot.left < 100;
      label.attr({ ignore: false, x: plot.left - BAND_PX - 8, y: middle });
      label.setStyle({
        text: own ? `${group.role}\n${count.trim()}` : `${group.role}${count}`,
        align: "right",
        verticalAlign: "middle",
        width: plot.left - BAND_PX - 12,
        overflow: "truncate",
        fill: theme.muted,
        lineHeight: LABEL_PX,
        font: `11px ${theme.font}`,
      });
    }
    for (const label of labels.slice(used)) label.attr({ ignore: true });
  }

  private addLabel(): InstanceType<typeof graphic.Text> {
    const label = new graphic.Text({ silent: true, z: 2 });
    this.labels.push(label);
    this.held.add(label);
    return label;
  }

  private addBand(): InstanceType<typeof graphic.Rect> {
    const band = new graphic.Rect({ silent: true, z: 2 });
    this.bands.push(band);
    this.held.add(band);
    return band;
  }
}

/** A stretch of rows of one colour. */
type Band = Pick<MapGroup, "row" | "rows" | "colour">;

/** Bands left of the rows: each thread's colour where a row is one thread and high enough, else the role's. */
function bandsOf(
  { groups, rows, first, colours, per_row }: MapLayout,
  plot: MapPlot,
): readonly Band[] {
  if (per_row > 1 || rows === 0 || rowBox(plot, 0).height < BANDED_PX) return groups;
  return Array.from({ length: rows }, (_, row) => ({
    ...{ row, rows: 1 },
    colour: colours[first[row] ?? 0] ?? 0,
  }));
}
