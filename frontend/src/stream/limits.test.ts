import { expect, it } from "vitest";
import { factInput, factModel } from "../testing/factModel";
import type { GroupLimits } from "../wire/generated/models";
import { limitsView, NO_LIMITS } from "./limits";

const NONE: GroupLimits = {
  ...{ memory_bytes: null, memory_hits: null, disk_bytes: null, disk_ios: null },
  ...{ reads_limited_us: null, writes_limited_us: null },
};

function view(limits: (t_s: number) => GroupLimits | null, seconds?: number) {
  const instants = [0, 5, 10].map((t_s) => ({ t_s, process: { limits: limits(t_s) } }));
  return limitsView(factInput(factModel(["main"], instants), {}, seconds));
}

it("has no limit where none is reported", () => {
  expect(view(() => null)).toEqual(NO_LIMITS);
  expect(view(() => NONE)).toEqual(NO_LIMITS);
});

it("counts how often a memory limit was reached within the window", () => {
  const limits = (t_s: number) => ({ ...NONE, memory_bytes: 64, memory_hits: t_s < 7 ? 0 : 50 });
  expect(view(limits).memory).toEqual({ bytes: 64, hits_per_s: 5 });
  expect(view(limits, 5).memory).toEqual({ bytes: 64, hits_per_s: 10 });
});

it("tells reads at a disk limit from writes", () => {
  const times = (t_s: number) => ({ reads_limited_us: 0, writes_limited_us: 8e5 * t_s });
  expect(view((t_s) => ({ ...NONE, ...times(t_s), disk_bytes: 1000 }))).toEqual({
    ...{ memory: null, disk: { limit: 1000, unit: "bytes/s" } },
    ...{ reads_limited: 0, writes_limited: 0.8 },
  });
  const { disk } = view((t_s) => ({ ...NONE, ...times(t_s), disk_ios: 200 }));
  expect(disk).toEqual({ limit: 200, unit: "1/s" });
});
