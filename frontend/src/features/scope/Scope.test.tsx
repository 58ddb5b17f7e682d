import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { FakeBackend } from "../../testing/backend";
import { factTables } from "../../testing/factModel";
import { frame, type Row, TARGET } from "../../testing/frames";
import { steadyWork } from "../../testing/ledgers";
import { TestPage } from "../../testing/TestPage";
import type { Target } from "../../wire/generated/models";
import { networkDetail, networkName } from "./TargetHeader";
import { windowFor, zoomWords } from "./ViewControls";

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
    const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend });
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

const GROUP: Target = {
  ...TARGET,
  group: {
    kind: "unit",
    ...{ value: "web.service", name: "web.service", cgroup: "/web.service" },
    discovery: "polling",
    discovery_reason: "there is no eBPF",
  },
};
const COUNTS = { live: 2, started: 5, ended: 4, unseen: 3, missed: null };

/** Two servers with two workers each. */
function rows(t_s: number): Row[] {
  return [10, 20].flatMap((pid) =>
    ["server", "worker-1", "worker-2"].map((name, i) => ({
      ...{ tid: pid + i, pid, name, start_s: -1 },
      counters: { cpu_run_ns: Math.round(i * (pid / 100) * 1e9 * t_s) },
    })),
  );
}

const tables = factTables({
  processes: [
    ...[10, 20].map((pid, k) => ({
      ...{ process: k + 1, pid, count: 1, live: 1, name: "server", title: `server --port ${pid}` },
      ...{ threads: 3, cpu_ns: 2e9 * (k + 1), gomaxprocs: 4 * (k + 1) },
    })),
    { process: 3, count: 4, name: "hook", cpu_ns: 7e6, threads_ended: 4 },
  ],
});

async function watching(): Promise<TestPage> {
  const backend = new FakeBackend();
  backend.begin({ targets: [GROUP] });
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend });
  for (let seq = 1; seq <= 20; seq++) {
    const made = frame({ seq, tables: seq === 1 ? tables : {} }, rows(seq / 10));
    backend.frame({ ...made, header: { ...made.header, group: COUNTS } });
    if (seq % 5 === 0) await page.pass(500);
  }
  await page.settle();
  return page;
}

it("names the group, and says how many processes it has and may have missed", async () => {
  const page = await watching();
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("web.service");
  screen.getByText("systemd unit");
  screen.getByText("2 (4 ended), some perhaps missed");
  await page.click(page.one("[data-quality]"));
  expect(document.body.textContent).toContain(
    "Processes that lived only between two samples may have been missed, and how many cannot be known: there is no eBPF.",
  );
});

it("opens the panel of a thread for a thread, and for no process", async () => {
  const page = await watching();
  const threads = page.region("Threads");
  const press = (place: number) =>
    page.click(
      threads.getAllByRole("button").find((each) => each.dataset.row === String(place)) as Element,
    );
  await press(0);
  await page.settle();
  expect(document.querySelector("[aria-selected=true], tr[data-selected=true]")).not.toBeNull();
  expect(document.querySelector("[data-panel=thread]")).toBeNull();
});

it("lists threads below roles and processes, by pointer and by keyboard", async () => {
  const page = await watching();
  const threads = page.region("Threads");
  const shown = () => [...document.querySelectorAll("tr[data-kind]")].map((row) => row.textContent);
  const at = (place: number) =>
    threads.getAllByRole("button").find((each) => each.dataset.row === String(place));
  expect(shown()).toHaveLength(2);
  // The busier one first.
  expect(shown()[0]).toContain("server server --port 20×320");
  at(0)?.focus();
  await page.press("{ArrowRight}");
  await page.settle();
  expect(shown()).toHaveLength(4);
  await page.press("{ArrowRight}");
  expect(document.activeElement?.textContent).toBe("worker-#");
  await page.press("{ArrowRight}");
  await page.settle();
  const levels = [...document.querySelectorAll("tr[data-kind]")].map((row) =>
    row.getAttribute("aria-level"),
  );
  expect(levels).toEqual(["1", "2", "3", "3", "2", "1"]);
  await page.press("{ArrowLeft}{ArrowLeft}{ArrowLeft}");
  await page.settle();
  expect(shown()).toHaveLength(2);
  await page.click(threads.getAllByRole("button", { name: "Unfold server" })[1] as Element);
  await page.settle();
  expect(shown()).toHaveLength(4);
});

it("draws lines of processes, roles or threads, and lists what processes did", async () => {
  const page = await watching();
  const legend = (title: string) =>
    page
      .region(title)
      .getAllByRole("listitem")
      .filter(({ dataset: { key } }) => key !== undefined)
      .map((each) => each.textContent);
  expect(legend("CPU")[0]).toMatch(/^server 20 0\.60/);
  await page.click(screen.getByRole("button", { name: "Lines" }));
  await page.select(screen.getByLabelText("Lines of"), "roles");
  await page.settle();
  expect(legend("CPU per role")[0]).toMatch(/^worker-# 0\.90/);
  await page.select(screen.getByLabelText("Lines of"), "threads");
  await page.settle();
  expect(legend("CPU per thread")).toHaveLength(4);
  const processes = page.region("Processes");
  const listed = [...processes.getByRole("table").querySelectorAll("tbody tr")];
  expect(listed.map((row) => row.textContent)).toEqual([
    expect.stringMatching(/^server server --port 20200\.6004\.0030/),
    expect.stringMatching(/^server server --port 10100\.3002\.0030/),
    expect.stringMatching(/^hook ×4 ended –/),
  ]);
  await page.click(processes.getByRole("button", { name: /port 20/ }));
  await page.settle();
  expect(page.region("Where the time goes").getByText("server (20)").tagName).toBe("STRONG");
});

it("has the size of each Go program, by name and pid", async () => {
  const page = await watching();
  const sizes = page.region("GOMAXPROCS");
  const entries = sizes
    .getAllByTitle(/^server \d+: \d+$/)
    .map((entry) => entry.getAttribute("title"));
  expect(entries).toEqual(["server 10: 4", "server 20: 8"]);
});

it("names the source", () => {
  expect(networkName("ebpf: counted since attachment; socket payload, not wire bytes")).toBe(
    "eBPF",
  );
  expect(networkName("taskstats extended: counted by the kernel")).toBe("taskstats extended");
  expect(networkName("none: switched off (--network none)")).toBe("none");
});

it("gives the rest as a sentence", () => {
  expect(networkDetail("none: switched off (--network none)")).toBe(
    "Switched off (--network none).",
  );
  expect(networkDetail("ebpf: counted since attachment: 1.")).toBe("Counted since attachment: 1.");
});

describe("windowFor", () => {
  it("turns choices into seconds", () => {
    expect(windowFor("300", 12)).toEqual({ kind: "last", seconds: 300 });
  });

  it.each([
    [0, 30],
    [30, 30],
    [30.1, 60],
    [4000, 7200],
    [90_000.5, 90_001],
  ])("shows all of %d s in %d s", (kept, seconds) => {
    expect(windowFor("all", kept)).toEqual({ kind: "last", seconds });
  });
});

it("says how long a zoomed stretch is", () => {
  expect(zoomWords({ kind: "fixed", t0_s: 10, t1_s: 14.5 })).toBe("4.5 s");
});
