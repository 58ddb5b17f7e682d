import { LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { connect, type ECharts, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useMemo, useRef, useState } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import type { ShownUnit } from "../../stream/views";
import { Button, SegmentedControl, Select } from "../../ui/Controls";
import { MAX_MARK_TEXT } from "../../wire/generated/limits";
import type { AlignKind } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import styles from "./ComparePage.module.css";
import {
  type CurvesView,
  curveMetrics,
  curveRoles,
  curvesOf,
  curvesOption,
  describeCurves,
  isCounter,
  metricLabel,
} from "./curvesOption";
import { RunSample } from "./Groups";
import type { CompareLink, CurveKind, Layout, PartProps } from "./link";

interface AlignmentProps {
  readonly link: CompareLink;
  readonly onLink: (link: CompareLink) => void;
}

const CHOICES: readonly { readonly value: AlignKind; readonly label: string }[] = [
  { value: "start", label: "Start" },
  { value: "policy", label: "First policy" },
  { value: "mark", label: "Mark" },
];

/** Controls for the alignment of the runs in time. */
export function Alignment({ link, onLink }: AlignmentProps) {
  const [text, setText] = useState(link.mark);
  useEffect(() => setText(link.mark), [link.mark]);
  return (
    <form
      className={styles.align}
      onSubmit={(event) => {
        event.preventDefault();
        onLink({ ...link, mark: text.trim() });
      }}
    >
      <span className={styles.label}>Aligned at</span>
      <SegmentedControl
        label="Aligned at"
        value={link.align}
        choices={CHOICES}
        onChange={(align) => onLink({ ...link, align })}
      />
      {link.align === "mark" ? (
        <>
          <input
            className={styles.field}
            aria-label="Text of the mark"
            placeholder="Text of the mark"
            value={text}
            maxLength={MAX_MARK_TEXT}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" disabled={text.trim() === "" || text.trim() === link.mark}>
            Align
          </Button>
        </>
      ) : null}
    </form>
  );
}

const OVERLAY_PX = 320;
const EACH_PX = 180;
const LAYOUTS: readonly { readonly value: Layout; readonly label: string }[] = [
  { value: "overlay", label: "Overlay" },
  { value: "each", label: "Side by side" },
];
const KINDS: readonly { readonly value: CurveKind; readonly label: string }[] = [
  { value: "rate", label: "Rate" },
  { value: "total", label: "Total" },
];

const UNIT_WORDS: Readonly<Partial<Record<ShownUnit, string>>> = {
  cores: "cores",
  threads: "threads in such a state, on average",
  share: "share of a core",
  "1/s": "per second",
  count: "number",
};

/** Curves of the runs on one time axis: overlaid, or side by side with equal scales. */
export function CurvesPanel({ link, comparison, onLink }: PartProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const metrics = useMemo(() => curveMetrics(comparison), [comparison]);
  const metric = metrics.includes(link.metric) ? link.metric : (metrics[0] ?? link.metric);
  const roles = useMemo(() => curveRoles(comparison, metric), [comparison, metric]);
  const role = roles.includes(link.role) ? link.role : "";
  const { kind, layout } = link;
  const view = useMemo(
    () => curvesOf(comparison, metric, role, kind),
    [comparison, metric, role, kind],
  );
  const of = role === "" ? "whole process" : role;
  const title = `${metricLabel(metric)}, ${of}`;
  return (
    <section className={shared.panel} aria-label="Curves">
      <header className={shared.panelHead}>
        <h2>Curves</h2>
        <Select
          label="of"
          value={metric}
          choices={metrics.map((each) => ({ value: each, label: metricLabel(each) }))}
          onChange={(next) => onLink({ ...link, metric: next })}
        />
        <Select
          label="in"
          value={role}
          choices={roles.map((each) => ({
            value: each,
            label: each === "" ? "the whole process" : each,
          }))}
          onChange={(next) => onLink({ ...link, role: next })}
        />
        {isCounter(metric) ? (
          <SegmentedControl
            label="Shown as"
            value={kind}
            choices={KINDS}
            onChange={(next) => onLink({ ...link, kind: next })}
          />
        ) : null}
        <SegmentedControl
          label="Charts"
          value={layout}
          choices={LAYOUTS}
          onChange={(next) => onLink({ ...link, layout: next })}
        />
        <span className={shared.hint}>{UNIT_WORDS[view.unit] ?? ""}</span>
        <Alignment link={link} onLink={onLink} />
      </header>
      {view.curves.length === 0 ? (
        <p className={shared.none}>No run has curves of this metric.</p>
      ) : layout === "overlay" ? (
        <>
          <RunCurves view={view} theme={colours} title={title} height={OVERLAY_PX} />
          <ul className={shared.legend}>
            {view.curves.map(({ name, index }) => (
              <li key={index} className={shared.run}>
                <RunSample index={index} theme={colours} /> {name}
              </li>
            ))}
          </ul>
        </>
      ) : (
        <Multiples view={view} title={title} />
      )}
    </section>
  );
}

/** One small chart per run, all with the same axes. */
function Multiples({ view, title }: { readonly view: CurvesView; readonly title: string }) {
  const colours = CHART_THEMES[useStore(theme)];
  const each = useMemo(() => view.curves.map((curve) => ({ ...view, curves: [curve] })), [view]);
  return (
    <div className={shared.multiples}>
      {each.map((one) => {
        const [curve] = one.curves;
        return curve === undefined ? null : (
          <figure key={curve.index} className={shared.one}>
            <figcaption className={shared.run}>
              <RunSample index={curve.index} theme={colours} /> {curve.name}
            </figcaption>
            <RunCurves view={one} theme={colours} title={title} height={EACH_PX} />
          </figure>
        );
      })}
    </div>
  );
}

use([LineChart, GridComponent, TooltipComponent, CanvasRenderer]);

interface RunCurvesProps {
  readonly view: CurvesView;
  readonly theme: ChartTheme;
  readonly title: string;
  readonly height: number;
}

/** Group of charts that share a pointer. */
const GROUP = "compare";

/** Curves of runs, which are static: ECharts draws them. */
function RunCurves({ view, theme, title, height }: RunCurvesProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = init(element, null, { renderer: "canvas" });
    chart.current = made;
    made.group = GROUP;
    connect(GROUP);
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    chart.current?.setOption(curvesOption(view, theme), { notMerge: true });
  }, [view, theme]);
  return (
    <div
      ref={place}
      role="img"
      aria-label={describeCurves(view, title)}
      style={{ width: "100%", height, contain: "size" }}
    />
  );
}
