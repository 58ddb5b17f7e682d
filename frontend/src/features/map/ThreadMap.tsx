import { useCallback, useEffect, useRef, useState } from "react";
import { attachGestures, type ChartControls } from "../../chart/gestures";
import type { ChartTheme } from "../../chart/palette";
import { groupColours, groupNumbered, type MapScale } from "../../chart/stateColours";
import { placeTooltip, tooltipIn } from "../../chart/tooltip";
import { useResize, useVisibility } from "../../chart/useResize";
import type { LiveClient } from "../../stream/client";
import { fieldLabel } from "../../stream/format";
import { foldOf, rowAt } from "../../stream/mapLayout";
import { placeOf } from "../../stream/mapPicture";
import { cellStateName, type StateShare } from "../../stream/states";
import type { Hover, MapMix, MapRequest, ThreadKey } from "../../stream/viewRequest";
import { mapSize } from "./mapPlot";
import { MapSurface } from "./mapSurface";
import {
  type CellText,
  cellSentence,
  cellText,
  describeMap,
  type MapCursor,
  moveCursor,
  shareText,
} from "./mapText";

/** Minimum time between changes of the text alternative, in ms: screen readers read it aloud. */
const DESCRIBE_MS = 2000;
const NO_HOVER: Hover = { t_s: null, key: null, chart: null };

interface ThreadMapProps {
  readonly client: LiveClient;
  readonly theme: ChartTheme;
  readonly field: string;
  readonly mix: MapMix;
  readonly by: MapRequest["by"];
  /** Unfolded stacks, and the callback that toggles one. */
  readonly open: readonly ThreadKey[];
  readonly onFold: (key: ThreadKey) => void;
  readonly log: boolean;
  /** Height in CSS pixels. */
  readonly height: number;
  /** Called when the colour scale changes, for the legend. */
  readonly onScale: (scale: MapScale) => void;
  /** Called with a pressed cell. */
  readonly onCell: (cell: MapCursor) => void;
}

/**
 * Every thread × time. React only places the map: pictures reach the surface through the client's
 * store, without a render.
 */
export function ThreadMap(props: ThreadMapProps) {
  const { client, theme, field, mix, by, open, onFold, log, height, onScale, onCell } = props;
  const place = useRef<HTMLDivElement>(null);
  const surfaceRef = useRef<MapSurface | null>(null);
  const drawRef = useRef<() => void>(() => undefined);
  const given = useRef({ theme, log, onScale, onFold, onCell, height, field });
  const cursor = useRef<MapCursor | null>(null);
  const [said, setSaid] = useState("");
  const width = useResize(place);
  const draw = useCallback(() => drawRef.current(), []);
  const inView = useVisibility(place);

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const size = { width: Math.max(1, element.clientWidth), height: given.current.height };
    const surface = new MapSurface(element, given.current.theme, size);
    surfaceRef.current = surface;
    const box = tooltipIn(element);
    // Arrow keys move a cursor in the map.
    element.tabIndex = 0;
    let described = Number.NEGATIVE_INFINITY;
    let reported = "";

    const point = (): void => {
      const hover = client.hover.get();
      surface.point(hover, client.view.get().selected);
      const { t_s, key, chart } = hover;
      const picture = client.map.get();
      const here = chart === "map" && t_s !== null && key !== null && picture?.view.state === "ok";
      const words = here ? cellText(picture, t_s, key) : null;
      if (!words || t_s === null) {
        box.style.visibility = "hidden";
        return;
      }
      fillMapTooltip(box, words, given.current.theme);
      const { left, width: across, t0_s, t1_s } = surface.plot;
      placeTooltip(box, left + ((t_s - t0_s) / (t1_s - t0_s)) * across, element.clientWidth);
    };
    drawRef.current = () => {
      const picture = client.map.get();
      const now = performance.now();
      surface.draw(picture, given.current.log, now, client.axis.get());
      point();
      const scale = surface.scale(given.current.log);
      if (`${scale.top} ${scale.log}` !== reported) {
        reported = `${scale.top} ${scale.log}`;
        given.current.onScale(scale);
      }
      element.dataset.columns = String(picture ? picture.to - picture.from : 0);
      element.dataset.rows = String(picture?.layout.rows ?? 0);
      if (now - described >= DESCRIBE_MS || picture === null) {
        described = now;
        element.setAttribute("aria-label", describeMap(picture, fieldLabel(given.current.field)));
      }
    };
    const keyAt = (x: number, y: number) => surface.keyAt(x, y);
    const controls: ChartControls = {
      window: () => client.view.get().window,
      extent: client.extent,
      onPoint: client.hover.set,
      onSelect: (key) => {
        const { t_s } = client.hover.get();
        client.select(key);
        if (t_s !== null) given.current.onCell({ t_s, key });
      },
      onWindow: (window) => client.request({ window }),
    };
    const onClick = (event: MouseEvent): void => {
      const box = element.getBoundingClientRect();
      const key = surface.foldAt(event.clientX - box.left, event.clientY - box.top);
      if (key !== null) given.current.onFold(key);
    };
    element.addEventListener("click", onClick);
    // A picture that arrives together with the axis is already drawn.
    const follow = () =>
      queueMicrotask(() => {
        if (!surface.spans(client.axis.get())) draw();
      });
    const ends = [
      () => element.removeEventListener("click", onClick),
      client.map.subscribe(draw),
      client.axis.subscribe(follow),
      client.hover.subscribe(point),
      client.view.subscribe(point),
      client.steer.subscribe(() => surface.showSteering(client.steer.get())),
      attachGestures(element, { controls, chart: "map", surface, keyAt }),
    ];
    surface.showSteering(client.steer.get());
    draw();
    return () => {
      for (const end of ends) end();
      surface.dispose();
      surfaceRef.current = null;
      drawRef.current = () => undefined;
      box.remove();
    };
  }, [client, draw]);

  useEffect(() => {
    given.current = { theme, log, onScale, onFold, onCell, height, field };
    surfaceRef.current?.setTheme(theme);
    if (width > 0) surfaceRef.current?.resize({ width, height });
    drawRef.current();
  }, [theme, log, onScale, onFold, onCell, height, width, field]);

  useEffect(() => {
    if (width === 0) return;
    const { width: width_px, height: rows } = mapSize(width, height);
    client.request({ map: { field, mix, by, open, width_px, rows, in_view: inView } });
  }, [client, field, mix, by, open, width, height, inView]);
  useEffect(() => () => client.request({ map: null }), [client]);

  const onKeyDown = (event: React.KeyboardEvent): void => {
    const picture = client.map.get();
    if (event.ctrlKey || event.altKey || event.metaKey || picture?.view.state !== "ok") return;
    const at = cursor.current;
    if (event.key === "Enter" && at) {
      event.preventDefault();
      client.select(at.key);
      onCell(at);
      return;
    }
    if (event.key === "f" && at) {
      const row = rowAt(picture.layout, placeOf(picture.layout, at.key));
      const key = foldOf(picture.layout, row);
      if (key !== null) onFold(key);
      return;
    }
    if (event.key === "p" && at) {
      client.togglePin(at.key);
      return;
    }
    const next = moveCursor(picture, at, event.key);
    if (!next) return;
    event.preventDefault();
    cursor.current = next;
    client.hover.set({ ...next, chart: "map" });
    const words = cellText(picture, next.t_s, next.key);
    setSaid(words ? cellSentence(words) : "");
  };
  const onBlur = (): void => {
    if (cursor.current) client.hover.set(NO_HOVER);
    cursor.current = null;
    setSaid("");
  };
  return (
    <>
      <div
        ref={place}
        role="application"
        aria-roledescription="heatmap"
        aria-label={describeMap(client.map.get(), fieldLabel(field))}
        data-map={field}
        onKeyDown={onKeyDown}
        onBlur={onBlur}
        style={{
          position: "relative",
          width: "100%",
          height,
          contain: "size",
          contentVisibility: inView ? "visible" : "auto",
          touchAction: "pan-y",
        }}
      />
      <output aria-live="polite" data-map-said="">
        {said}
      </output>
    </>
  );
}

/** Fill the tooltip box with a cell's text. */
function fillMapTooltip(box: HTMLElement, words: CellText, theme: ChartTheme): void {
  Object.assign(box.style, {
    background: theme.background,
    color: theme.text,
    border: `1px solid ${theme.grid}`,
    fontFamily: theme.font,
  });
  const head = row(words.time, theme.muted);
  const thread = row(words.thread, theme.text);
  thread.style.fontWeight = "600";
  const values =
    words.shares.length > 0
      ? words.shares.map((share) => shareRow(share, theme))
      : [row(words.value, theme.text)];
  const notes = words.notes.map((note) => row(note, theme.muted));
  box.replaceChildren(head, thread, ...values, ...notes);
}

function row(text: string, colour: string): HTMLElement {
  const element = document.createElement("div");
  element.textContent = text;
  element.style.color = colour;
  return element;
}

function shareRow({ number, share }: StateShare, theme: ChartTheme): HTMLElement {
  const element = row("", theme.text);
  Object.assign(element.style, { display: "flex", alignItems: "center", gap: "6px" });
  const swatch = document.createElement("span");
  const group = groupNumbered(number);
  Object.assign(swatch.style, {
    width: "10px",
    height: "10px",
    flex: "none",
    background: group === null ? "none" : groupColours(theme.dark)[group],
  });
  const name = document.createElement("span");
  name.textContent = cellStateName(number);
  const percent = document.createElement("span");
  percent.textContent = shareText(share);
  Object.assign(percent.style, { marginLeft: "auto", fontVariantNumeric: "tabular-nums" });
  element.append(swatch, name, percent);
  return element;
}
