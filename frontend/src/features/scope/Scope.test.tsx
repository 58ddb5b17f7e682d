import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { FakeBackend } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { steadyWork } from "../../testing/steadyWork";
import { TestPage } from "../../testing/TestPage";

/** The names in a chart's legend. */
function legend(page: TestPage, chart: string): string[] {
  const entries = within(page.one(`[data-panel=${chart}]`)).getAllByRole("listitem");
  return entries.map((entry) => entry.textContent ?? "");
}

describe("the charts", () => {
  it("show the busiest thread first, and name it in their text alternative", async () => {
    const page = await TestPage.watching();
    expect(legend(page, "cpu")[0]).toContain("burner");
    const chart = within(page.one("[data-panel=cpu]")).getByRole("img");
    expect(chart.getAttribute("aria-label")).toContain("burner");
  });

  it("rank threads by the field that is asked for, so many of them", async () => {
    const page = await TestPage.watching();
    await page.click(screen.getByRole("button", { name: "Lines" }));
    await page.select(screen.getByRole("combobox", { name: "Lines of" }), "threads");
    const by = screen.getByRole("combobox", { name: "by" });
    await page.select(by, "Disk written");
    await page.settle();
    expect(legend(page, "cpu")[0]).toContain("writer");
    await page.select(by, "each chart's own metric");
    await page.select(screen.getByRole("combobox", { name: "Lines" }), "top 5");
    await page.settle();
    // Five threads, and all others as one line.
    expect(legend(page, "cpu")).toHaveLength(6);
    expect(legend(page, "cpu")[5]).toContain("8 others");
  });

  it("are of the window that is chosen", async () => {
    const page = await TestPage.watching();
    const shown = screen.getByRole("group", { name: "Time window" });
    const lengths = { "30 s": 30, "5 min": 300, "1 min": 60 };
    for (const [label, seconds] of Object.entries(lengths)) {
      const choice = within(shown).getByLabelText<HTMLInputElement>(label);
      await page.click(choice);
      await page.settle();
      expect(choice.checked).toBe(true);
      expect(page.client.view.get().window).toEqual({ kind: "last", seconds });
      // An incomplete window shows the existing data.
      const view = page.client.chart("cpu").get();
      expect((view?.t1_s ?? 0) - (view?.t0_s ?? 0)).toBe(10);
    }
    await page.click(within(shown).getByLabelText("All"));
    expect(within(shown).getByLabelText<HTMLInputElement>("All").checked).toBe(true);
  });

  it("that this target cannot have are listed with the reason", async () => {
    const backend = new FakeBackend();
    const absent = [{ field: "blkio_delay_ns", reason: "delay accounting is switched off" }];
    backend.begin({ targets: [{ ...TARGET, absent, gomaxprocs_reason: "not a Go program" }] });
    const page = await TestPage.watching(1, { backend });
    expect(page.one("[data-absent=gomaxprocs]").textContent).toContain("not a Go program");
    expect(page.one("[data-absent=blkio]").textContent).toContain(
      "delay accounting is switched off",
    );
    expect(document.querySelector("[data-panel=blkio]")).toBeNull();
  });
});

describe("pause", () => {
  it("stops the numbers while data goes on, and continues with what came meanwhile", async () => {
    const page = await TestPage.watching();
    const total = () => page.cell("burner", "total:cpu_run_ns").textContent;
    await page.click(screen.getByRole("button", { name: "Pause" }));
    screen.getByText("Paused. Sampling continues.");
    await page.settle();
    const frozen = total();
    expect(frozen).toMatch(/^2\.0/);
    await page.run(2);
    expect(total()).toBe(frozen);
    await page.click(screen.getByRole("button", { name: "Resume" }));
    await page.settle();
    expect(total()).toMatch(/^3\.0/);
  });

  it("is what the space bar does, but not while typing", async () => {
    const page = await TestPage.watching(1);
    const words = "Paused. Sampling continues.";
    await page.press(" ");
    screen.getByText(words);
    await page.press(" ");
    expect(screen.queryByText(words)).toBeNull();
    await page.press("/");
    const filter = screen.getByLabelText<HTMLInputElement>("Filter threads");
    expect(document.activeElement).toBe(filter);
    await page.press(" ");
    expect(filter.value).toBe(" ");
    expect(screen.queryByText(words)).toBeNull();
  });
});

it("holds CPU of live and ended threads against that of the process", async () => {
  const page = await TestPage.watching();
  await page.click(page.one("[data-quality]"));
  const health = page.region("Data quality");
  health.getByText(/^process [±+−] (0|<0\.001) % of /);
});

describe("power", () => {
  const tile = (page: TestPage) => page.one("[data-tile=power]");

  it("says why there is none", async () => {
    const page = await TestPage.watching(1);
    expect(document.querySelector("[data-tile=power]")).toBeNull();
    expect(page.one("[data-absent=power]").textContent).toContain(
      "there is no RAPL in /sys/class/powercap",
    );
    expect(document.querySelector('[data-column="power"]')).toBeNull();
  });

  it("is that of the machine, with the process' part as an estimate", async () => {
    const backend = new FakeBackend();
    const domain = {
      zone: "intel-rapl:0",
      name: "package-0",
      kind: "package",
      summed: true,
    } as const;
    const energy = { domains: [domain], reason: "RAPL" };
    backend.begin({ targets: [{ ...TARGET, energy }] });
    const page = await TestPage.open(`/?target=${TARGET.id}`, { backend });
    for (let second = 0; second < 4; second++) {
      // 20 W; the process has 0.63 of two busy cores.
      const machine = {
        time_ns: second * 1e9,
        cpu_busy_us: second * 2e6,
        package_uj: second * 20e6,
        domains_uj: [second * 20e6],
      };
      await page.frame(steadyWork(second, second === 0), { t_s: second, machine });
      await page.settle();
    }
    expect(tile(page).textContent).toMatch(/20(\.0)? W machine/);
    expect(tile(page).textContent).toMatch(/6\.3\d? W process, est\./);
    expect(page.cell("burner", "power").textContent).toMatch(/^5\.0/);
  });
});
