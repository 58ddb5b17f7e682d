/** The CPU chart without requested lines: stacked bands, or one role's threads. */

import type { ChartItem, LevelSum } from "../chartItem";
import { CHART_SPECS } from "../chartSpecs";
import {
  type Chosen,
  chartView,
  chooseThreads,
  emptyView,
  levelOf,
  rankOf,
  sumsIn,
  threadsIn,
  type ViewInput,
  whyAbsent,
} from "../chartView";
import { isRuntimeRole } from "../role";
import type { Thread } from "../threads";
import type { ChartRequest, Level } from "../viewRequest";
import type { ChartView } from "../views";
import { LineHues, LineOrder } from "./lineHues";
import { SpreadMaker } from "./spreadView";
import { stackView } from "./stackView";

/** Maximum number of threads distinguishable by hue. */
const MAX_HUES = 6;
/** Interval for choosing bands again, in ms. */
const CHOSEN_MS = 500;
const BAND_MS = 250;

export class CpuViewMaker {
  private readonly order = new LineOrder();
  private readonly hues = new LineHues();
  private readonly spread: SpreadMaker;
  private chosen: Chosen | null = null;
  private of = "";
  private rank = "";
  private chosen_ms = Number.NEGATIVE_INFINITY;
  private band: { readonly view: ChartView; readonly made_ms: number } | null = null;

  /** @param clock Monotonic clock, ms. */
  constructor(private readonly clock: () => number) {
    this.spread = new SpreadMaker(clock);
  }

  /**
   * Choose bands again at once, after a changed request.
   * @param rank Changes with the ranking of lines.
   */
  outdate(rank: string): void {
    if (rank !== this.rank) this.order.release();
    this.rank = rank;
    this.chosen_ms = Number.NEGATIVE_INFINITY;
    this.band = null;
  }

  make(input: ViewInput, asked: ChartRequest): ChartView {
    const [field] = CHART_SPECS.cpu.fields;
    if (field !== undefined && input.model.counters.columnOf(field) < 0) {
      return emptyView(input, asked.chart, "absent", whyAbsent(input, field));
    }
    const scope = cpuScope(input);
    if (scope.kind === "whole") return this.whole(input, asked, scope);
    const { role, threads } = scope;
    const opened = { key: role.key, name: role.name, threads: threads.length };
    if (threads.length > MAX_HUES) {
      return this.banded(() => ({
        ...this.spread.view(input, threads, this.hues, role.colour),
        opened,
      }));
    }
    const chosen = this.choose(input, `role ${role.key}`, threads, MAX_HUES);
    const colours = this.hues.of(chosen.threads);
    const coloured = chosen.threads.map((thread, index) => ({
      ...thread,
      colour: colours[index] ?? thread.colour,
    }));
    const view = chartView(input, asked, { ...chosen, threads: coloured });
    return { ...withoutOthers(view), opened };
  }

  /** Bands move by whole columns, not by samples. */
  private banded(make: () => ChartView): ChartView {
    const now_ms = this.clock();
    if (!this.band || now_ms - this.band.made_ms >= BAND_MS) {
      this.band = { view: make(), made_ms: now_ms };
    }
    const { view } = this.band;
    // Arrays of a view are transferred to the page and become unusable here.
    const [time_s, low, high] = [view.time_s.slice(), view.low.slice(), view.high.slice()];
    return { ...view, time_s, low, high };
  }

  private whole(
    input: ViewInput,
    asked: ChartRequest,
    { by, items }: Extract<CpuScope, { kind: "whole" }>,
  ): ChartView {
    const { top_k } = input.request;
    const most = by === "thread" ? Math.min(top_k, MAX_HUES) : top_k;
    const chosen = this.choose(input, by, items, most);
    const colours =
      by === "thread" ? this.hues.of(chosen.threads) : chosen.threads.map(({ colour }) => colour);
    return stackView(input, asked, chosen, colours);
  }

  /** Items with a line, in an order that seldom changes. */
  private choose(input: ViewInput, of: string, items: Iterable<ChartItem>, most: number): Chosen {
    const now_ms = this.clock();
    if (of === this.of && this.chosen && now_ms - this.chosen_ms < CHOSEN_MS) return this.chosen;
    const before = new Set(this.chosen?.threads.map(({ key }) => key));
    const chosen = chooseThreads(input, "cpu", before, items, most);
    if (of !== this.of) this.order.release();
    this.of = of;
    this.chosen_ms = now_ms;
    // Selected items are included here, and nowhere else.
    const score = rankOf(input, "cpu");
    const ranked = chosen.threads
      .map((each) => ({ each, key: each.key, score: score(each) || 0 }))
      .sort((a, b) => b.score - a.score);
    const threads = this.order.of(ranked, now_ms).map(({ each }) => each);
    this.chosen = { ...chosen, threads };
    return this.chosen;
  }
}

/**
 * Without "others": one role's threads are complete, and the rest of the process is not part of the
 * role.
 */
function withoutOthers(view: ChartView): ChartView {
  const lines = view.lines.filter(({ kind }) => kind !== "others");
  const cut = lines.length * view.columns;
  const low = view.low.slice(0, cut);
  const high = view.high === view.low ? low : view.high.slice(0, cut);
  const y_max = high.reduce((most, value) => Math.max(most, value || 0), 0);
  return { ...view, lines, low, high, y_max, others_above: false, others: 0, peaks: null };
}

type CpuScope =
  /** The whole target, by process, role or thread. */
  | { readonly kind: "whole"; readonly by: Level; readonly items: readonly ChartItem[] }
  /** The threads of one of several roles, or of the only role on request. */
  | { readonly kind: "role"; readonly role: LevelSum; readonly threads: readonly Thread[] };

/**
 * Scope of the CPU chart: everything by role, or the threads of the selected role (or selected
 * thread's role). A program with one role is shown by thread; a group by process.
 */
function cpuScope(input: ViewInput): CpuScope {
  const { levels } = input.model;
  const roles = [...sumsIn(input, levels.roles.values())];
  const opened = openedRole(input, roles);
  if (opened) {
    const threads = [...threadsIn(input)].filter(({ role }) => role === opened.role);
    return { kind: "role", role: opened, threads };
  }
  if (levelOf(input) === "process") {
    return { kind: "whole", by: "process", items: [...sumsIn(input, levels.processes())] };
  }
  if (several(roles)) return { kind: "whole", by: "role", items: roles };
  return { kind: "whole", by: "thread", items: [...threadsIn(input)] };
}

/** Runtime-internal threads do not count as a second role. */
function several(roles: readonly LevelSum[]): boolean {
  return roles.filter(({ role }) => !isRuntimeRole(role)).length > 1;
}

function openedRole({ request, model }: ViewInput, roles: readonly LevelSum[]): LevelSum | null {
  const { selected } = request;
  if (selected === null) return null;
  const role = roles.find(({ key }) => key === selected);
  if (role) return role;
  // A thread of the only role already appears in the overall chart.
  if (!several(roles) || model.levels.grouped) return null;
  for (const thread of model.threads.all()) {
    if (thread.key === selected) return roles.find((each) => each.role === thread.role) ?? null;
  }
  return null;
}
