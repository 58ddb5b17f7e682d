import { screen, within } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";

afterEach(() => window.localStorage.clear());

const slots = () =>
  [...document.querySelectorAll<HTMLElement>("[data-slot]")].map(({ dataset: { slot } }) => slot);
const query = () => new URLSearchParams(window.location.search).get("panels");

it("puts the thread map first, then who uses the CPU, where the time goes, and bytes", async () => {
  await TestPage.watching(1);
  expect(slots().slice(0, 4)).toEqual(["map", "cpu", "cpu_total", "times"]);
  expect(slots().indexOf("disk")).toBeLessThan(slots().indexOf("switches"));
  expect(slots().at(-1)).toBe("threads");
  const nav = within(screen.getByRole("navigation", { name: "Panels" }));
  expect(nav.getAllByRole("link").map(({ textContent }) => textContent)).toEqual([
    ...["Thread map", "CPU", "Cumulative CPU", "Time", "Disk", "Switches", "Threads"],
  ]);
});

it("folds a panel, remembers it, and has it in the link", async () => {
  const page = await TestPage.watching(1);
  expect(query()).toBeNull();
  await page.click(screen.getByRole("button", { name: "Cumulative CPU", expanded: true }));
  expect(document.querySelector("[data-panel=cpu_total]")).toBeNull();
  expect(query()).toBe("cpu_total-");
  const again = await TestPage.reopened(page);
  expect(document.querySelector("[data-panel=cpu_total]")).toBeNull();
  // The opened address contained no arrangement.
  expect(query()).toBe("cpu_total-");
  await again.click(screen.getByRole("button", { name: "Default order" }));
  again.one("[data-panel=cpu_total]");
  expect([query(), window.localStorage.getItem("tidscope.panels")]).toEqual([null, null]);
});

it("moves panels by keys, and the focus stays with the panel", async () => {
  const page = await TestPage.watching(1);
  const handle = () => screen.getByRole("button", { name: "Move: Where the time goes" });
  handle().focus();
  await page.press("{ArrowUp}{ArrowUp}{ArrowUp}");
  expect(slots().slice(0, 3)).toEqual(["times", "map", "cpu"]);
  expect(document.activeElement).toBe(handle());
  screen.getByText(/^Where the time goes: place 1 of \d+$/);
  await page.press("{ArrowDown}");
  expect(slots().slice(0, 3)).toEqual(["map", "times", "cpu"]);
});

it("shows a link as it was passed on", async () => {
  await TestPage.open(`/?target=${TARGET.id}&panels=disk*.map-`).then((page) => page.run(1));
  expect(slots()[0]).toBe("disk");
  expect(slots().indexOf("map")).toBeLessThan(slots().indexOf("cpu"));
  screen.getByRole("button", { name: /^Large: .*disk/, pressed: true });
  expect(document.querySelector("[data-panel=map]")).toBeNull();
});

it("says in one line what is not available, and why", async () => {
  const page = await TestPage.watching(3);
  const line = screen.getByText(/^Not available here:/);
  expect(line.textContent).toContain("Power");
  expect(page.one("[data-absent=power]").textContent).toContain("RAPL");
  expect(document.querySelector("[data-panel=pools]")).toBeNull();
});
