import { expect, it } from "vitest";
import { type Row, TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";

const NAME = "connection-pool";

/** Threads of one name and equal load, at a moment. */
function pool(count: number, t_s: number): Row[] {
  return Array.from({ length: count }, (_, place) => ({
    tid: 4_194_300 + place,
    start_s: 0,
    name: NAME,
    counters: { cpu_run_ns: Math.round(t_s * 1e8) },
  }));
}

async function watchingPool(count: number): Promise<TestPage> {
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`);
  for (let step = 1; step <= 5; step++) {
    await page.frame(pool(count, step / 10));
  }
  await page.settle();
  return page;
}

it("has the whole tid and name of threads that share a long name", async () => {
  const page = await watchingPool(2);
  page.region("CPU").getByRole("button", { name: /^connection-pool 4194301/ });
});

it("says how many other threads there are, and nothing where there are none", async () => {
  const few = await watchingPool(3);
  expect(few.region("CPU").queryByText(/others?$/)).toBeNull();
});

it("counts one other thread in the singular", async () => {
  const many = await watchingPool(7);
  many.region("CPU").getByText("1 other");
});
