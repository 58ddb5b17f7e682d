import { expect, it, vi } from "vitest";
import { FakeBackend, HOST } from "../../testing/backend";
import { factTables } from "../../testing/factModel";
import { encodeFrame } from "../../testing/frames";
import { PROGRAM } from "../../testing/ledgerPage";
import { LEDGER_TARGET, LedgerFrames } from "../../testing/ledgers";
import { summary } from "../../testing/runs";
import { graphOf } from "../../testing/stacks";
import { TestPage } from "../../testing/TestPage";
import type { RunManifest, Target } from "../../wire/generated/models";
import type { ReadFrames } from "../../wire/runFrames";

/** Two goroutines that wait for a place in a channel, read every second. */
function tables(t_s: number) {
  const ns = 1e9 * t_s;
  const place = { function: "main.serve", file: "/src/serve.go", line: 56 };
  const all = { function: "", file: "", line: 0 };
  return factTables({
    goroutines: [
      { stack: 1, count: 2, goroutine_ns: 2 * ns, covered_ns: ns },
      { stack: 2, count: 2, goroutine_ns: 2 * ns, covered_ns: 0 },
    ],
    goroutine_stacks: [
      { stack: 1, pid: 100, reason: "all", ...all, frames: "" },
      {
        stack: 2,
        pid: 100,
        reason: "chan send",
        ...place,
        frames: "main.serve\t/src/serve.go\t56",
      },
    ],
  });
}

it("shows goroutines of a run, in the window of the stacks", async () => {
  const target: Target = {
    ...LEDGER_TARGET,
    process: { ...LEDGER_TARGET.process, runtime: "go" },
  };
  const { duration_ns, host_name, pid, process, command, exit_code, signal, ...known } = summary();
  const run: RunManifest = {
    ...{ ...known, format: 1, tidscope: "1.0", host: HOST, target, fields: [], marks: [] },
    ...{ from_ns: 0, to_ns: 20e9, outcome: null, policies: [] },
  };
  const backend = new FakeBackend();
  backend.on(`GET /runs/${run.id}`, () => run);
  backend.on(`GET /runs/${run.id}/stacks`, () => graphOf([], { sampling: null }));
  const read: ReadFrames = async (_, onFrame) => {
    const frames = new LedgerFrames(PROGRAM);
    for (let t_s = 0; t_s <= 20; t_s++) {
      onFrame(encodeFrame(frames.at(t_s, { tables: tables(t_s) })));
    }
  };
  await Promise.all([import("./StacksPage"), import("../../wire/generated/stackValidators")]);
  const from_ms = target.attached_unix_us / 1000 + 4000;
  const address = `/stacks?run=${run.id}&from=${from_ms}&to=${from_ms + 8000}`;
  const page = await TestPage.open(address, { backend, read });
  await vi.dynamicImportSettled();
  await page.pass(11_000);
  const panel = page.region("Goroutines");
  expect(panel.getByText(/by the program's own profiles; over 8.0/)).toBeTruthy();
  expect(panel.getByRole("button", { name: "main.serve (serve.go:56)" })).toBeTruthy();
});
