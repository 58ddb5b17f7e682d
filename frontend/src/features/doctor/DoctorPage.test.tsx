import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend, problem, process, refuse } from "../../testing/backend";
import { TestPage } from "../../testing/TestPage";
import type {
  CpuAllowance,
  DoctorCheck,
  DoctorReport,
  SizedProgram,
} from "../../wire/generated/models";
import { auditText, sizeChecks } from "./DoctorPage";

/** A check without problems. */
function check(changes: Partial<DoctorCheck>): DoctorCheck {
  const name = changes.name ?? "taskstats";
  return {
    title: name,
    status: "ok",
    finding: "version 16",
    impact: "",
    fix: "",
    name,
    ...changes,
  };
}

const DELAYS = check({
  name: "delay-accounting",
  status: "limited",
  finding: "kernel.task_delayacct is 0",
  impact: "block I/O and swap-in delays stay 0",
  fix: "sudo sysctl -w kernel.task_delayacct=1",
  enabled: false,
});

function report(...checks: readonly DoctorCheck[]): DoctorReport {
  const about = { host: "bench", kernel: "6.12.0", checked_unix_ms: Date.now() } as const;
  return { ...about, status: "limited", checks: [...checks] };
}

async function open(...checks: readonly DoctorCheck[]): Promise<TestPage> {
  const backend = new FakeBackend();
  backend.on("GET /doctor", () => report(...checks));
  return TestPage.open("/doctor", { backend });
}

const card = (page: TestPage, name: string) => page.one(`[data-check="${name}"]`);

it("shows of each check its status, what was found, what is lost, and what fixes it", async () => {
  const failed = check({ name: "network", status: "failed", finding: "no CAP_BPF" });
  const page = await open(check({}), DELAYS, failed);
  const statuses = ["taskstats", "delay-accounting", "network"].map(
    (name) => card(page, name).dataset.state,
  );
  expect(statuses).toEqual(["ok", "limited", "failed"]);
  expect(card(page, "taskstats").textContent).toContain("version 16");
  const words = card(page, "delay-accounting").textContent;
  expect(words).toContain("kernel.task_delayacct is 0");
  expect(words).toContain("block I/O and swap-in delays stay 0");
  expect(words).toContain("sudo sysctl -w kernel.task_delayacct=1");
  // Nothing to fix, so nothing to copy.
  const copies = screen.getAllByRole("button", { name: /^Copy/ });
  expect(copies).toHaveLength(1);
  await page.click(copies[0] as HTMLElement);
  expect(await navigator.clipboard.readText()).toBe(DELAYS.fix);
});

it("shows pools that are set wrong", async () => {
  const backend = new FakeBackend();
  backend.on("GET /doctor", () => report(check({})));
  const allowance = {
    cpus: 2,
    limit_cores: null,
    limit_group: null,
    weight: null,
    request_cores: null,
    periods: null,
    throttled: null,
  } as const;
  const wrong = {
    process: process({ pid: 77 }),
    allowance,
    ...({ pool: "GOMAXPROCS", kind: "gomaxprocs", size: 8, source: "memory" } as const),
    chosen: "environment",
    verdict: "too-large",
    why: "GOMAXPROCS is 8, but it may use 2 CPUs.",
    change: "GOMAXPROCS=2",
  } as const;
  backend.on("GET /sizes", () => ({ programs: [wrong], omitted: 0 }));
  const page = await TestPage.open("/doctor", { backend });
  expect(card(page, "size-77-GOMAXPROCS").dataset.state).toBe("limited");
  expect(card(page, "size-77-GOMAXPROCS").textContent).toContain("GOMAXPROCS=2");
  screen.getByText("1 of 1 pool set wrong.");
});

it("checks again on request", async () => {
  const page = await open(DELAYS);
  page.backend.on("GET /doctor", () => report(check({ ...DELAYS, status: "ok", enabled: true })));
  await page.pass(1);
  await page.click(screen.getByRole("button", { name: "Check again" }));
  expect(card(page, "delay-accounting").dataset.state).toBe("ok");
  expect(page.backend.requests("GET /doctor").length).toBeGreaterThan(1);
});

it("switches delay accounting, and shows the report that answers", async () => {
  const page = await open(DELAYS);
  page.backend.on("PUT /doctor/delay-accounting", () =>
    report(check({ ...DELAYS, status: "ok", enabled: true })),
  );
  await page.pass(1);
  const button = within(card(page, "delay-accounting")).getByRole("button", {
    name: "Turn on delay accounting",
  });
  await page.click(button);
  const [asked] = page.backend.requests("PUT /doctor/delay-accounting");
  expect(asked?.body).toEqual({ on: true });
  expect(card(page, "delay-accounting").dataset.state).toBe("ok");
  within(card(page, "delay-accounting")).getByRole("button", {
    name: "Turn off delay accounting",
  });
});

it("shows a refusal to switch, with what to do", async () => {
  const page = await open(DELAYS);
  page.backend.on("PUT /doctor/delay-accounting", () =>
    refuse(
      problem("not-permitted", {
        status: 403,
        title: "The kernel does not permit it",
        detail: "kernel.task_delayacct cannot be written: Read-only file system",
        hint: "On the host: sudo sysctl -w kernel.task_delayacct=1",
      }),
    ),
  );
  await page.click(screen.getByRole("button", { name: /^Turn on delay accounting/ }));
  const alert = within(card(page, "delay-accounting")).getByRole("alert");
  expect(alert.textContent).toContain("Read-only file system");
  expect(alert.textContent).toContain("sudo sysctl -w");
});

it("shows commands in sentences as commands, not between backticks", async () => {
  const page = await open(check({ finding: "it depends, which `tidscope sweep` shows." }));
  const words = card(page, "taskstats");
  expect(words.textContent).toContain("it depends, which tidscope sweep shows.");
  expect(words.querySelector("code")?.textContent).toBe("tidscope sweep");
});

const FREE: CpuAllowance = {
  cpus: 8,
  limit_cores: null,
  limit_group: null,
  weight: null,
  request_cores: null,
  periods: null,
  throttled: null,
};

function program(changes: Partial<SizedProgram>): SizedProgram {
  return {
    process: process({ pid: 7 }),
    allowance: FREE,
    ...{ pool: "GOMAXPROCS", kind: "gomaxprocs", size: 8, source: "memory" },
    chosen: "runtime",
    verdict: "fits",
    why: "GOMAXPROCS is 8, as it may use.",
    change: null,
    ...changes,
  };
}

const LARGE = program({
  verdict: "too-large",
  why: "GOMAXPROCS is 8, but its control group has 2 cores.",
  change: "GOMAXPROCS=2",
  allowance: { ...FREE, limit_cores: 2, limit_group: "/a", periods: 200, throttled: 75 },
});

it("counts pools that are set wrong", () => {
  const audit = (...programs: SizedProgram[]) => auditText({ programs, omitted: 0 });
  expect(audit()).toBe("No Go program, Java virtual machine or program with an agent runs here.");
  expect(audit(program({}))).toBe("No pool is known to be set wrong (1 looked at).");
  expect(audit(LARGE, program({}))).toBe("1 of 2 pools set wrong.");
  expect(auditText({ programs: [LARGE], omitted: 3 })).toContain("3 more were not looked at.");
});

it("shows what is wrong with its evidence and the line to change", () => {
  const [check, ...more] = sizeChecks({ programs: [LARGE, program({})], omitted: 0 });
  expect(more).toEqual([]);
  expect(check?.status).toBe("limited");
  expect(check?.title).toMatch(/^GOMAXPROCS of /);
  expect(check?.finding).toContain("CPUs of its affinity: 8; CPU limit: 2 cores (/a).");
  expect(check?.impact).toMatch(/^throttled in 37\.5\s?% of the limit's periods so far$/);
  expect(check?.fix).toBe("GOMAXPROCS=2");
});

it("shows programs of which nothing is known", () => {
  const unknown = program({ verdict: "unknown", size: null, why: "It cannot be read." });
  const [check] = sizeChecks({ programs: [unknown], omitted: 0 });
  expect([check?.known, check?.fix, check?.impact]).toEqual([false, "", ""]);
  // Misconfigured programs come first.
  const names = sizeChecks({ programs: [unknown, LARGE], omitted: 0 }).map(({ known }) => known);
  expect(names).toEqual([true, false]);
});
