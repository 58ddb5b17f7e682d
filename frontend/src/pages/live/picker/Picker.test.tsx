import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { FakeBackend, HOST, problem, process, refuse } from "../../../testing/backend";
import { TARGET } from "../../../testing/frames";
import { TestPage } from "../../../testing/TestPage";

const KERNEL_THREAD = problem("kernel-thread", {
  status: 403,
  title: "This is a kernel thread",
  detail: "kthreadd has no memory of its own and cannot be watched.",
});

/** A backend whose host runs these. */
function backendWith(...processes: readonly ReturnType<typeof process>[]): FakeBackend {
  const backend = new FakeBackend();
  backend.on("GET /processes", () => ({ host: HOST.id, processes }));
  return backend;
}

it("finds processes by their words, and says when none fits", async () => {
  const backend = backendWith(process(), process({ pid: 4300, name: "worker", command: "worker" }));
  const page = await TestPage.open("/", { backend });
  const search = screen.getByLabelText("Search processes");
  await page.fill(search, "serv 4200");
  expect(page.one("[data-pid]").dataset.pid).toBe("4200");
  await page.fill(search, "no-such-program-anywhere");
  screen.getByText("No process matches");
  expect(screen.queryByRole("table")).toBeNull();
  await page.click(screen.getByRole("button", { name: "Show all" }));
  expect(document.querySelectorAll("[data-pid]")).toHaveLength(2);
});

it("lists the busiest process first, with its CPU, threads, runtime and ports", async () => {
  const backend = backendWith(
    process({ pid: 1, name: "idle", cpu_percent: null }),
    process({ cpu_percent: 61.23, threads: 13, runtime: "go", ports: [80, 443] }),
  );
  await TestPage.open("/", { backend });
  const rows = [...document.querySelectorAll<HTMLElement>("[data-pid]")];
  expect(rows.map((row) => row.dataset.pid)).toEqual(["4200", "1"]);
  const cells = rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent));
  expect(cells[0]?.slice(1, 4)).toEqual(["4200", "61.2 %", "13"]);
  expect(cells[0]?.[5]).toContain("go");
  expect(cells[0]?.at(-1)).toBe("80, 443");
  expect(cells[1]?.[2]).toBe("–");
});

describe("a process that cannot be watched", () => {
  it("is refused where it is listed, with the reason", async () => {
    const backend = backendWith(process({ pid: 2, name: "kthreadd", refusal: KERNEL_THREAD }));
    const page = await TestPage.open("/", { backend });
    const button = screen.getByRole("button", { name: "Attach to kthreadd, pid 2" });
    expect(button.getAttribute("aria-disabled")).toBe("true");
    expect(page.one('[data-pid="2"]').textContent).toContain("This is a kernel thread");
    await page.click(button);
    expect(screen.getByRole("alert").textContent).toContain("cannot be watched");
    expect(window.location.search).toBe("");
    expect(backend.requests("POST /targets")).toEqual([]);
  });

  it("is refused by its address, and the picker is there", async () => {
    const backend = new FakeBackend();
    backend.on("POST /targets", () => refuse(KERNEL_THREAD));
    await TestPage.open("/?pid=2", { backend });
    expect(backend.requests("POST /targets").map(({ body }) => body)).toEqual([{ pid: 2 }]);
    expect(screen.getByRole("alert").textContent).toContain("cannot be watched");
    screen.getByRole("heading", { name: "Attach to a process" });
  });
});

it("says what is wrong with an address that names no process or target", async () => {
  const page = await TestPage.open("/?pid=abc");
  screen.getByText('"abc" is not a process id.');
  page.leave();
  const other = await TestPage.open("/?target=t-7-00000000");
  // News of a new target may still be on its way.
  expect(screen.queryByText("Unknown target")).toBeNull();
  await other.pass(3000);
  screen.getByText("Unknown target");
  await other.click(screen.getByRole("button", { name: "Choose a process" }));
  screen.getByRole("heading", { name: "Attach to a process" });
});

it("lists what is attached already on top, and opens it", async () => {
  const page = await TestPage.open("/");
  const target = page.one(`[data-target="${TARGET.id}"]`);
  expect(target.textContent).toContain("attached");
  await page.click(within(target).getByRole("link"));
  expect(window.location.search).toBe(`?target=${TARGET.id}`);
  await page.run(1);
  expect(page.row("burner").dataset.threadState).toBe("live");
});

it("attaches by the keyboard alone: search, arrow down, Enter", async () => {
  const backend = new FakeBackend();
  backend.on("POST /targets", () => TARGET);
  const page = await TestPage.open("/", { backend });
  await page.press("/");
  expect(document.activeElement).toBe(screen.getByLabelText("Search processes"));
  await page.press("4200");
  await page.press("{ArrowDown}");
  const row = screen.getByRole("button", { name: "Attach to server, pid 4200" });
  expect(document.activeElement).toBe(row);
  await page.press("{Enter}");
  expect(window.location.search).toBe(`?target=${TARGET.id}`);
});
