import { describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../testing/frames";
import { chartView, chooseThreads, type ViewInput } from "./chartView";
import { frozenRates, movingRates } from "./currentRates";
import { MapLanes } from "./mapLanes";
import { layoutOf } from "./mapLayout";
import { filterFrom } from "./rank";
import { tableView } from "./tableView";
import { TargetModel } from "./targetModel";
import { tileViews } from "./tileView";
import { DEFAULT_REQUEST, DEFAULT_TABLE, type TableRequest } from "./viewRequest";

const SECOND = 1e9;

/** Thread 10 + i uses i tenths of a core; 13 has no disk counters. */
function rowsAt(t_s: number): Row[] {
  return [0, 1, 2, 3].map((i) => ({
    tid: 10 + i,
    start_s: -i,
    name: i === 0 ? "main" : `worker-${i}`,
    counters: {
      cpu_run_ns: 0.1 * i * t_s * SECOND,
      cpu_delay_ns: 0,
      voluntary_switches: 20 * t_s,
      involuntary_switches: 0,
      ...(i === 3 ? {} : { disk_read_bytes: 4096 * t_s, disk_write_bytes: 0 }),
    },
  }));
}

function model(): TargetModel {
  const made = new TargetModel();
  for (let i = 0; i <= 6; i++) made.ingest(frame({ seq: i + 1, t_s: i / 2 }, rowsAt(i / 2)));
  return made;
}

function input(made: TargetModel, filter = ""): ViewInput {
  const request = { ...DEFAULT_REQUEST, filter };
  const span = { t0_s: 0, t1_s: 3 };
  const now_s = made.now_s;
  return { model: made, target: TARGET, request, filter: filterFrom(filter), span, now_s };
}

function table(changes: Partial<TableRequest> = {}, filter = "", made = model()) {
  return tableView(input(made, filter), movingRates(made), { ...DEFAULT_TABLE, ...changes });
}

describe("tableView", () => {
  it("sorts by rate, highest first", () => {
    const view = table();
    expect(view.rows.map((row) => row.tid)).toEqual([13, 12, 11, 10]);
    const cpu = view.fields.indexOf("cpu_run_ns");
    expect(view.rows[0]?.rates[cpu]).toBeCloseTo(0.3 * SECOND, 0);
    expect(view.rows[0]?.totals[cpu]).toBeCloseTo(0.9 * SECOND, 0);
    expect(view.rate_span_s).toBe(1);
    expect(view.rows.map((row) => row.state)).toEqual(["live", "live", "live", "idle"]);
  });

  it("puts absent values last, whichever way round", () => {
    const sort = { by: "total", field: "disk_read_bytes" } as const;
    expect(table({ sort }).rows.at(-1)?.tid).toBe(13);
    expect(table({ sort, descending: false }).rows.at(-1)?.tid).toBe(13);
    const row = table({ sort }).rows.at(-1);
    expect(row?.totals[table().fields.indexOf("disk_read_bytes")]).toBeNaN();
  });

  it("groups by role and adds up", () => {
    const view = table({ group: "role" });
    expect(view.rows.map(({ key, threads }) => [key, threads])).toEqual([
      ["role:worker-#", 3],
      ["role:main", 1],
    ]);
    const [workers] = view.rows;
    expect(workers?.rates[view.fields.indexOf("cpu_run_ns")]).toBeCloseTo(0.6 * SECOND, 0);
    expect(workers?.totals[view.fields.indexOf("disk_read_bytes")]).toBe(2 * 3 * 4096);
    expect(workers?.start_s).toBe(-3);
  });

  it("filters by name, role or tid, and gives the part that was asked for", () => {
    expect(table({}, "WORKER-[12]$").rows.map((row) => row.tid)).toEqual([12, 11]);
    expect(table({}, "^10$").total).toBe(1);
    const part = table({ offset: 1, limit: 2 });
    expect([part.total, part.offset, part.rows.map((row) => row.tid)]).toEqual([4, 1, [12, 11]]);
  });

  it("lists exited threads when asked, with their totals and no rate", () => {
    const made = model();
    made.ingest(
      frame(
        {
          seq: 8,
          t_s: 3.5,
          events: [
            {
              type: "thread_exited",
              tid: 13,
              start_ns: -3e9,
              name: "worker-3",
              totals: { cpu_run_ns: 123 },
              exact: false,
              seen_alive: true,
            },
          ],
        },
        [],
      ),
    );
    expect(table({}, "", made).total).toBe(3);
    const row = table({ lives: "all" }, "worker-3", made).rows[0];
    expect(row).toMatchObject({ state: "exited", exact: false, end_s: 3.5, threads: 0 });
    expect([row?.rates[0], row?.totals[0]]).toEqual([Number.NaN, 123]);
    expect(table({ lives: "exited" }, "", made).rows.map(({ tid }) => tid)).toEqual([13]);
    expect(table({ lives: "all" }, "", made).total).toBe(4);
    const roles = table({ lives: "exited", group: "role" }, "", made);
    expect(roles.rows.map(({ key, exact }) => [key, exact])).toEqual([["role:worker-#", false]]);
  });

  it("does not move when it is frozen", () => {
    const made = model();
    const frozen = frozenRates(made);
    const still = input(made);
    const before = tableView(still, frozen, DEFAULT_TABLE);
    for (let i = 7; i <= 12; i++) made.ingest(frame({ seq: i + 1, t_s: i / 2 }, rowsAt(i)));
    expect(tableView(still, frozen, DEFAULT_TABLE)).toEqual(before);
  });
});

describe("tileViews", () => {
  const tiles = () => {
    const made = model();
    return new Map(tileViews(input(made), movingRates(made)).map((tile) => [tile.id, tile]));
  };

  it("adds up the process", () => {
    expect(tiles().get("cpu")).toMatchObject({ unit: "cores", state: "ok" });
    expect(tiles().get("cpu")?.value).toBeCloseTo(0.6, 9);
    expect(tiles().get("switches")?.value).toBeCloseTo(80, 9);
    expect(tiles().get("disk")).toMatchObject({
      unit: "bytes/s",
      value: 3 * 4096,
      first_label: "read",
      second: { label: "written", value: 0 },
    });
    expect(tiles().get("threads")?.value).toBe(4);
  });

  it("says why a tile has nothing", () => {
    expect(tiles().get("network")).toMatchObject({ state: "absent", reason: "needs eBPF" });
    expect(tiles().get("blkio")).toMatchObject({
      state: "absent",
      reason: "no thread of this target has blkio_delay_ns",
    });
  });

  it("has the recent past of the rate", () => {
    const spark = tiles().get("cpu")?.spark ?? new Float32Array(0);
    expect(spark).toHaveLength(60);
    expect(spark.at(-1)).toBeCloseTo(0.6, 5);
    expect(spark[0]).toBeNaN();
  });

  it("waits for the second sample", () => {
    const made = new TargetModel();
    made.ingest(frame({ seq: 1 }, rowsAt(1)));
    const [cpu] = tileViews(input(made), movingRates(made));
    expect(cpu).toMatchObject({ state: "waiting", value: Number.NaN });
  });
});

it("gives a thread one colour in table, charts and map", () => {
  const made = model();
  const view = input(made);
  const asked = { chart: "cpu", width_px: 500, in_view: true } as const;
  const lines = chartView(view, asked, chooseThreads(view, "cpu", new Set())).lines;
  const map = layoutOf(new MapLanes(0.1).update(made.threads.all()), 100);
  const rows = table({}, "", made).rows;
  const drawn = lines.filter(({ kind }) => kind === "thread");
  expect(drawn).toHaveLength(3);
  for (const { key, tid, colour } of drawn) {
    expect(rows.find((row) => row.key === key)?.colour).toBe(colour);
    expect(map.colours[map.tid.indexOf(tid ?? -1)]).toBe(colour);
  }
  expect(new Set(drawn.map(({ colour }) => colour)).size).toBe(3);
});
