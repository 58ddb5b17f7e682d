/** The live page of a group of processes. */

import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend } from "../../testing/backend";
import { factTables } from "../../testing/factModel";
import { frame, type Row, TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";
import type { Target } from "../../wire/generated/models";

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
  const page = await TestPage.open(`/?target=${TARGET.id}`, { backend });
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
