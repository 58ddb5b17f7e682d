import { expect, it } from "vitest";
import { tileAbsentReason } from "./Tiles";

it("gives the collector's words on a field that the target does not have", () => {
  expect(tileAbsentReason("network", "no eBPF here", ["cpu_run_ns"], 3)).toBe("no eBPF here");
  expect(tileAbsentReason("threads", "reported", [], 3)).toBe("reported");
});

it("knows that an ended process has no rates", () => {
  expect(tileAbsentReason("cpu", "", ["cpu_run_ns"], 0)).toBe("No live threads.");
});

it("says what the kernel needs to give it", () => {
  expect(tileAbsentReason("blkio", "", ["blkio_delay_ns"], 3)).toBe(
    "No thread has a value. Needs kernel.task_delayacct=1 when the thread starts.",
  );
});
