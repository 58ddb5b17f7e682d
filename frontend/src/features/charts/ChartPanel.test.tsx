import { expect, it } from "vitest";
import { type Row, TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";

/** A thread that writes from an instant on, if at all, and then no more. */
function writer(t_s: number, from_s: number): Row[] {
  const disk_write_bytes = Math.round(1e6 * Math.max(0, Math.min(t_s - from_s, 0.5)));
  const counters = { cpu_run_ns: Math.round(t_s * 1e8), disk_read_bytes: 0, disk_write_bytes };
  return [{ tid: 1, start_s: 0, name: "writer", counters }];
}

it("is one line while it has nothing to show, and keeps its place once it had", async () => {
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=disk`);
  const chart = () => document.querySelector("[data-panel=disk] [data-chart]");
  const pass = async (to_s: number, from_s: number) => {
    for (let step = 10 * (to_s - 1) + 1; step <= 10 * to_s; step++) {
      await page.frame(writer(step / 10, from_s));
    }
    await page.settle();
  };
  await pass(1, 1);
  page.region("Cumulative disk bytes").getByText("Nothing yet: all values are 0.");
  expect(chart()).toBeNull();
  await pass(2, 1);
  expect(chart()).not.toBeNull();
  await pass(3, 1);
  expect(chart()).not.toBeNull();
});
