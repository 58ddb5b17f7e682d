import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../testing/frames";
import { loadFindings } from "./factViews";
import { filterFrom } from "./rank";
import { TargetModel } from "./targetModel";
import { timesSteps, timesView } from "./timesView";
import { ViewBuilder, type Views } from "./viewBuilder";
import {
  type ChartId,
  type ChartRequest,
  DEFAULT_MAP,
  DEFAULT_REQUEST,
  DEFAULT_TABLE,
  type ViewRequest,
} from "./viewRequest";

const REQUEST: ViewRequest = { ...DEFAULT_REQUEST, table: DEFAULT_TABLE };
const SEEN: ChartRequest = { chart: "cpu", width_px: 100, in_view: true };
const UNSEEN: ChartRequest = { chart: "switches", width_px: 100, in_view: false };

/** A builder over a target of one busy thread, with a manual clock. */
class World {
  now = 0;
  readonly model = new TargetModel();
  readonly builder = new ViewBuilder(this.model, () => this.now);
  private seq = 0;

  /** Ingest frames a tenth of a second apart; return the views after each. */
  frames(count: number): Partial<Views>[] {
    return Array.from({ length: count }, () => {
      this.now += 100;
      this.seq++;
      const counters = { cpu_run_ns: this.seq * 5e7, voluntary_switches: this.seq };
      const row: Row = { tid: 1, start_s: 0, name: "main", counters };
      this.model.ingest(frame({ seq: this.seq }, [row]));
      return this.builder.moving(TARGET);
    });
  }

  /** Names of all due parts; a chart by its ID. */
  due(): string[] {
    const made: string[] = [];
    while (this.builder.due_ms <= this.now && made.length < 50) {
      const { charts = [], ...others } = this.builder.part(TARGET, 0);
      made.push(...Object.keys(others), ...charts.map(({ chart }) => chart));
    }
    return made;
  }
}

function chartsOf(views: readonly Partial<Views>[]): ChartId[] {
  return views.flatMap(({ charts = [] }) => charts.map(({ chart }) => chart));
}

const TIMES: ChartRequest = { chart: "times", width_px: 400, in_view: true };

/** A frame of 300 threads; those of the first half end after the 30th frame. */
function ingestMany(model: TargetModel, seq: number): void {
  const from = seq > 30 ? 150 : 0;
  const rows = Array.from({ length: 300 - from }, (_, n) => {
    const tid = from + n + 1;
    const counters = { cpu_run_ns: seq * 1e7 * (tid % 9), cpu_delay_ns: seq * 1e5 * (tid % 7) };
    return { tid, start_s: 0, name: `worker-${tid}`, counters };
  });
  model.ingest(frame({ seq }, rows));
}

let world = new World();
beforeEach(() => {
  world = new World();
  world.builder.ask(REQUEST, [SEEN, UNSEEN]);
});

beforeAll(loadFindings);

describe("ViewBuilder", () => {
  it("lets only charts in view follow frames", () => {
    expect(chartsOf(world.frames(3))).toEqual(["cpu", "cpu", "cpu"]);
  });

  it("says where the axis stands when it moves, before charts that are made less often", () => {
    const moved = world.frames(20).flatMap(({ axis }) => axis ?? []);
    expect(moved.map(({ t1_s }) => t1_s)).toEqual([0.5, 1, 1.5, 2]);
    world.builder.ask({ ...REQUEST, window: { kind: "fixed", t0_s: 1, t1_s: 2 } }, [SEEN]);
    expect(world.builder.moving(TARGET).axis).toEqual({ t0_s: 1, t1_s: 2 });
    expect(world.builder.moving(TARGET).axis).toBeUndefined();
  });

  it("makes what is out of view once for each request, and until it has something to show", () => {
    world.frames(3);
    expect(world.due()).toContain("switches");
    world.frames(100);
    expect(world.due()).not.toContain("switches");
    world.builder.ask({ ...REQUEST, top_k: 3 }, [SEEN, UNSEEN]);
    world.frames(1);
    expect(world.due()).toContain("switches");

    world = new World();
    world.builder.ask(REQUEST, [{ ...UNSEEN, chart: "blkio" }]);
    world.frames(3);
    expect(world.due()).toContain("blkio"); // Absent: the target lacks the field.
    world.frames(21);
    expect(world.due()).toContain("blkio");
  });

  it("makes a chart that comes into view with the next round, and nothing else for it", () => {
    world.frames(10);
    world.due();
    world.builder.ask(REQUEST, [SEEN, { ...UNSEEN, in_view: true }]);
    expect(chartsOf([world.builder.moving(TARGET)])).toEqual(["cpu", "switches"]);
    expect(world.due()).toEqual([]);
    // Removing a chart triggers no view either.
    world.builder.ask(REQUEST, [SEEN, UNSEEN]);
    expect(chartsOf([world.builder.moving(TARGET)])).toEqual(["cpu"]);
    expect(world.due()).toEqual([]);
  });

  it("makes each part of what is read twice a second at most, and only if something came", () => {
    world.frames(1);
    expect(world.due()).toEqual(["target", "table", "tiles", "events", "switches"]);
    world.frames(4);
    expect(world.due()).toEqual([]);
    world.frames(1);
    expect(world.due()).toEqual(["target", "table", "tiles"]); // Nothing happened: no events.
    world.now += 900;
    expect(world.due()).toEqual([]);
    world.now += 100;
    expect(world.due()).toEqual(["target"]); // Shows silence.
  });

  it("makes the part at once whose request changed, and no other", () => {
    world.frames(5);
    world.due();
    world.builder.ask({ ...REQUEST, table: { ...DEFAULT_TABLE, offset: 20 } }, [SEEN, UNSEEN]);
    expect(world.due()).toEqual(["table"]);
  });

  it("keeps what is paused, and shows what is asked for at that instant", () => {
    world.frames(10);
    world.due();
    const paused = { ...REQUEST, paused: true };
    world.builder.ask(paused, [SEEN, UNSEEN]);
    const [view] = world.builder.moving(TARGET).charts ?? [];
    expect(world.due()).toContain("table");
    expect(chartsOf(world.frames(20))).toEqual([]);
    expect(world.due()).toEqual(["target"]);
    world.builder.ask(paused, [SEEN, { ...UNSEEN, in_view: true }]);
    const [scrolledTo] = world.builder.moving(TARGET).charts ?? [];
    expect(scrolledTo).toMatchObject({ chart: "switches", state: "ok", t1_s: view?.t1_s });
    expect(scrolledTo?.time_s.at(-1)).toBe(view?.time_s.at(-1));
  });

  it("has a map follow frames while it is in view, and all of it when it comes back", () => {
    const map = { ...DEFAULT_MAP, rows: 10 };
    const ask = (in_view: boolean) =>
      world.builder.ask({ ...REQUEST, map: { ...map, in_view } }, []);
    ask(true);
    const followed = world.frames(30).filter((views) => views.map);
    expect(followed.length).toBeGreaterThan(25);
    const newest = followed.at(-1)?.map;
    ask(false);
    expect(world.frames(30).some((views) => views.map)).toBe(false);
    ask(true);
    const missed = world.builder.moving(TARGET).map;
    // From the column that was incomplete.
    expect(missed?.from).toBe((newest?.from ?? 0) + (newest?.columns ?? 0) - 1);
    expect((missed?.columns ?? 0) * (missed?.bin_s ?? 0)).toBeCloseTo(3, 0);
  });

  it("makes where the time goes in steps when it takes long, and from the start if it is asked again", () => {
    let now = 0;
    const model = new TargetModel();
    // A clock that advances with each reading leaves no time for a step.
    const builder = new ViewBuilder(model, () => {
      now += 10;
      return now;
    });
    for (let seq = 1; seq <= 30; seq++) ingestMany(model, seq);
    const request = { ...DEFAULT_REQUEST, tiles: false, events: false };
    const steps = () => {
      for (let n = 1; ; n++) {
        const { charts } = builder.part(TARGET, 0);
        if (charts) return { n, chart: charts[0]?.chart, scope: charts[0]?.times?.scope };
      }
    };
    builder.ask(request, [TIMES]);
    builder.moving(TARGET);
    const whole = steps();
    expect(whole).toMatchObject({ chart: "times", scope: "process" });
    expect(whole.n).toBeGreaterThan(4);
    builder.ask({ ...request, top_k: 3 }, [TIMES]);
    builder.part(TARGET, 0);
    builder.part(TARGET, 0);
    builder.ask({ ...request, selected: "role:worker-#" }, [TIMES]);
    expect(steps()).toMatchObject({ chart: "times", scope: "role" });
  });

  it("looks for findings again soon while there is too little to find anything in", () => {
    world.builder.ask({ ...REQUEST, facts: ["findings"] }, [SEEN]);
    world.frames(10);
    expect(world.due()).toContain("findings");
    world.frames(6);
    expect(world.due()).toContain("findings");
    world.frames(60);
    expect(world.due()).toContain("findings");
    world.frames(6);
    expect(world.due()).not.toContain("findings");
  });

  it("makes findings in steps, and of the window that was asked for last", () => {
    let now = 0;
    const model = new TargetModel();
    const builder = new ViewBuilder(model, () => {
      now += 10;
      return now;
    });
    for (let seq = 1; seq <= 100; seq++) ingestMany(model, seq);
    const request: ViewRequest = { ...DEFAULT_REQUEST, facts: ["findings"] };
    builder.ask(request, []);
    builder.moving(TARGET);
    for (let n = 0; n < 8; n++) expect(builder.part(TARGET, 0).findings).toBeUndefined();
    builder.ask({ ...request, window: { kind: "last", seconds: 6 } }, []);
    let found = builder.part(TARGET, 0).findings;
    for (let n = 0; n < 20 && !found; n++) found = builder.part(TARGET, 0).findings;
    expect(found?.seconds).toBeCloseTo(6, 1);
  });

  it("shows of where the time went the same, whatever comes between two steps", () => {
    const model = new TargetModel();
    for (let seq = 1; seq <= 30; seq++) ingestMany(model, seq);
    const now_s = model.now_s;
    const common = { model, target: TARGET, request: DEFAULT_REQUEST, filter: filterFrom("") };
    const input = { ...common, now_s, span: { t0_s: now_s - 60, t1_s: now_s } };
    const atOnce = timesView(input, TIMES);
    expect(atOnce.state).toBe("ok");
    const steps = timesSteps(input, TIMES);
    for (let seq = 31; ; seq += 100) {
      const { done, value } = steps.next();
      if (done) {
        expect(value).toEqual(atOnce);
        break;
      }
      for (let next = seq; next < seq + 100; next++) ingestMany(model, next);
    }
  });
});
