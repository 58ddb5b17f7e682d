import { describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../testing/frames";
import { filterFrom } from "./filter";
import { foldOf } from "./mapLayout";
import { MapMaker } from "./mapView";
import { TargetModel } from "./targetModel";
import { DEFAULT_MAP, DEFAULT_REQUEST, type MapRequest } from "./viewRequest";

/** Processes of a main thread and two workers each, from pid 10 on, in steps of 10. */
function modelOf(processes: number): TargetModel {
  const model = new TargetModel();
  const rows = (t_s: number): Row[] =>
    Array.from({ length: processes }, (_, k) => 10 * (k + 1)).flatMap((pid) =>
      ["server", "worker-1", "worker-2"].map((name, i) => ({
        ...{ tid: pid + i, pid, name, start_s: -1 },
        counters: { cpu_run_ns: i * 1e8 * t_s },
      })),
    );
  for (const seq of [1, 2, 3]) model.ingest(frame({ seq, t_s: seq }, rows(seq)));
  return model;
}

function layoutFor(model: TargetModel, asked: Partial<MapRequest>) {
  const maker = new MapMaker();
  const input = {
    ...{ model, target: TARGET, request: DEFAULT_REQUEST, filter: filterFrom("") },
    ...{ span: { t0_s: 0, t1_s: 10 }, now_s: model.now_s },
  };
  const map = { ...DEFAULT_MAP, by: "process", width_px: 20, rows: 100, ...asked } as const;
  const view = maker.make(input, map, true, () => 0);
  if (!view?.layout) throw new Error("no map");
  const groups = view.layout.groups.map(({ role, rows, threads, heading }) =>
    [heading ? `[${role}]` : role, rows, threads].join(" "),
  );
  return { groups, layout: view.layout };
}

describe("the map of a group", () => {
  it("stacks threads by process, and by role on request", () => {
    const model = modelOf(2);
    expect(layoutFor(model, {}).groups).toEqual(["server 10 3 3", "server 20 3 3"]);
    expect(layoutFor(model, { by: "role" }).groups).toEqual(["server 2 2", "worker-# 4 4"]);
    const alone = layoutFor(model, {}).layout;
    expect(alone.processes.slice(2, 4)).toEqual(["server (10)", "server (20)"]);
  });

  it("unfolds a process to its roles below a heading", () => {
    const model = modelOf(2);
    const [, second] = model.levels.processes();
    const { groups, layout } = layoutFor(model, { open: [second?.key ?? ""] });
    expect(groups).toEqual(["server 10 3 3", "[server 20] 1 0", "server 1 1", "worker-# 2 2"]);
    expect([2, 3, 4, 6].map((row) => foldOf(layout, row))).toEqual([
      ...["process:10@-1000000000", second?.key, second?.key, second?.key],
    ]);
  });

  it("stacks many processes by their names", () => {
    const model = modelOf(90);
    const { groups, layout } = layoutFor(model, {});
    expect(groups).toEqual(["server 100 270"]);
    expect(layout.per_row).toBe(3);
    expect(layoutFor(model, { open: ["name:server"] }).groups).toEqual([
      ...["[server] 1 0", "server 50 90", "worker-# 49 180"],
    ]);
  });
});
