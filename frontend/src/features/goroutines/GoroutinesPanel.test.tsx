import { within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { FakeBackend } from "../../testing/backend";
import { factTables } from "../../testing/factModel";
import { LedgerPage, PROGRAM } from "../../testing/ledgerPage";
import type { TestPage } from "../../testing/TestPage";
import { goroutineTree, tipOf } from "./goroutineTree";

beforeEach(() => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(false);
});

const FRAMES = [
  "runtime.gopark\tproc.go\t462\nruntime.chansend\tchan.go\t283\nmain.serve\t/src/serve.go\t56",
  "time.Sleep\ttime.go\t3\nmain.serve\t/src/serve.go\t57",
];

/** A Go program that is read every second: 40 goroutines wait for a place that 2 have. */
function tables(t_s: number) {
  const of = (stack: number, count: number, covered_ns = 0) => ({
    ...{ stack, count, goroutine_ns: 1e9 * t_s * count, covered_ns },
  });
  const place = (line: number) => ({ function: "main.serve", file: "/src/serve.go", line });
  return factTables({
    goroutines: [of(1, 42, 1e9 * t_s), of(2, 40), of(3, 2)],
    goroutine_stacks: [
      { stack: 1, pid: 100, reason: "all", function: "", file: "", line: 0, frames: "" },
      { stack: 2, pid: 100, reason: "chan send", ...place(56), frames: FRAMES[0] ?? "" },
      { stack: 3, pid: 100, reason: "sleep", ...place(57), frames: FRAMES[1] ?? "" },
    ],
  });
}

async function watched(read: boolean): Promise<TestPage> {
  const watching = await LedgerPage.watching(0, PROGRAM, "", new FakeBackend(), "go");
  await watching.run(8, read ? tables : () => ({}));
  await watching.page.pass(11_000);
  return watching.page;
}

it("lists goroutines by what they wait for and where, with their stacks", async () => {
  const page = await watched(true);
  const panel = page.region("Goroutines");
  panel.getByRole("row", { name: "main.serve (serve.go:56) chan send held up 40.0 40" });
  panel.getByRole("row", { name: "main.serve (serve.go:57) sleep idle 2.00 2" });
  await page.click(panel.getByRole("button", { name: "main.serve (serve.go:56)" }));
  const stack = within(panel.getByRole("list", { name: "Stack of 40.0 goroutines" }));
  expect(stack.getAllByRole("listitem").map((each) => each.textContent)).toEqual([
    "runtime.gopark proc.go:462",
    "runtime.chansend chan.go:283",
    "main.serve serve.go:56",
  ]);
});

it("is where the finding of a full semaphore leads", async () => {
  const page = await watched(true);
  const finding = page.region("Findings").getByRole("button", { name: /goroutines/ });
  expect(finding.textContent).toBe(
    "40 goroutines wait for a place in a channel (chan send), in main.serve (serve.go:56); " +
      "the 2 past it are mostly asleep, in main.serve (serve.go:57).",
  );
  await page.click(finding);
  expect(document.activeElement?.id).toBe("panel-goroutines");
});

it("says how to see them where no profile is read", async () => {
  const page = await watched(false);
  expect(page.region("Goroutines").getByText(/--ask-programs/)).toBeTruthy();
});

it("draws stacks from the outermost function, as wide as they have goroutines", () => {
  const frame = (name: string, line: number) => ({ function: name, file: "/src/a.go", line });
  const stack = (mean: number, ...names: string[]) => ({
    ...{ pid: 1, reason: "sleep", place: frame("", 0), now: 0, mean },
    frames: names.map(frame),
  });
  const stacks = [stack(3, "b", "a"), stack(5, "c", "a"), stack(1, "a")];
  const [{ pid, reason, place } = stack(0)] = stacks;
  const row = { ...{ key: "", kind: "idle" as const, process: "", mean: 9, now: 0, stacks } };
  const tree = goroutineTree([{ ...row, pid, reason, place }]);
  expect(tree.name).toEqual(["a", "c", "b"]);
  expect(tree.weight).toEqual([9, 5, 3]);
  expect(tree.total).toBe(9);
  expect(tipOf(tree, 1)).toEqual(["c", "5.00 goroutines on average (56 %)", "a.go:0"]);
});
