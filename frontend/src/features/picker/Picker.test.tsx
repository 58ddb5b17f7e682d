import { screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { FakeBackend, HOST, problem, process, refuse } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";

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
  // The message about the new target may not have arrived yet.
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
  await page.click(screen.getByRole("link", { name: "Threads" }));
  await page.settle();
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

describe("a group", () => {
  const shop = { id: "abcdef0123456789", name: "shop", runtime: "docker", pod: null } as const;
  const parts = [
    process({ pid: 10, name: "postgres", command: "postgres", parent: null }),
    process({ pid: 11, name: "checkpointer", command: "postgres: checkpointer", parent: 10 }),
    process({ pid: 20, name: "web", command: "web --all", parent: null, container: shop }),
    process({ pid: 21, name: "web", command: "web --one", parent: 20, container: shop }),
  ];
  async function open(): Promise<[TestPage, FakeBackend]> {
    const backend = backendWith(...parts);
    backend.on("POST /targets", () => TARGET);
    return [await TestPage.open("/", { backend }), backend];
  }
  const asked = (backend: FakeBackend) =>
    backend.requests("POST /targets").map(({ body }) => (body as { group?: unknown }).group);

  it("is a tree: arrow keys unfold it, Shift+Enter attaches to all of it", async () => {
    const [page, backend] = await open();
    await page.click(screen.getByRole("radio", { name: "Trees" }));
    const row = screen.getByRole("button", { name: "Attach to postgres, pid 10" });
    const line = row.closest("tr");
    expect(line?.getAttribute("aria-level")).toBe("1");
    expect(line?.getAttribute("aria-expanded")).toBe("true");
    row.focus();
    await page.press("{ArrowLeft}");
    expect(document.querySelectorAll('[data-pid="11"]')).toHaveLength(0);
    await page.press("{ArrowRight}{ArrowRight}");
    const child = screen.getByRole("button", { name: "Attach to checkpointer, pid 11" });
    expect(document.activeElement).toBe(child);
    expect(child.closest("tr")?.getAttribute("aria-level")).toBe("2");
    await page.press("{ArrowLeft}");
    expect(document.activeElement).toBe(row);
    await page.press("{Shift>}{Enter}{/Shift}");
    expect(asked(backend)).toEqual([{ kind: "tree", pid: 10, start_ticks: 1, value: null }]);
    expect(window.location.search).toBe(`?target=${TARGET.id}`);
  });

  it("is a tree by a press on its button", async () => {
    const [page, backend] = await open();
    await page.click(screen.getByRole("radio", { name: "Trees" }));
    await page.click(
      screen.getByRole("button", { name: "Attach to web, pid 20, and 1 descendant" }),
    );
    expect(asked(backend)).toEqual([{ kind: "tree", pid: 20, start_ticks: 1, value: null }]);
  });

  it("is a container", async () => {
    const [page, backend] = await open();
    await page.click(screen.getByRole("radio", { name: "Containers" }));
    expect(document.querySelectorAll('[data-pid="20"]')).toHaveLength(0);
    await page.click(screen.getByRole("button", { name: "Unfold shop" }));
    expect(document.querySelectorAll('[data-pid="20"]')).toHaveLength(1);
    await page.click(screen.getByRole("button", { name: "Attach to shop, 2 processes" }));
    const group = { kind: "container", pid: null, start_ticks: null, value: shop.id };
    expect(asked(backend)).toEqual([group]);
  });

  it("is all that match what was searched for", async () => {
    const [page, backend] = await open();
    const search = screen.getByLabelText("Search processes");
    await page.fill(search, "postgres:");
    expect(screen.queryByRole("button", { name: /that match/ })).toBeNull();
    await page.fill(search, "postgres");
    await page.click(screen.getByRole("button", { name: "Attach to all 2 that match" }));
    const group = { kind: "match", pid: null, start_ticks: null, value: "postgres" };
    expect(asked(backend)).toEqual([group]);
  });
});
