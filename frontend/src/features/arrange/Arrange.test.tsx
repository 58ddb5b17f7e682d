import { screen, within } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";

afterEach(() => window.localStorage.clear());

const slots = () =>
  [...document.querySelectorAll<HTMLElement>("[data-slot]")].map(({ dataset: { slot } }) => slot);
const query = () => new URLSearchParams(window.location.search).get("panels");

const tabs = () => within(screen.getByRole("navigation", { name: "Panels" })).getAllByRole("link");

it("answers why in the first tab, and has the other panels one press away, by link", async () => {
  const page = await TestPage.open(`/?target=${TARGET.id}`);
  await page.run(3);
  expect(slots()).toEqual(["times", "map"]);
  expect(tabs().map(({ textContent }) => textContent)).toEqual([
    ...["Summary", "CPU", "Disk", "Events", "Threads", "All charts"],
  ]);
  const current = () => tabs().filter((tab) => tab.getAttribute("aria-current") === "page");
  expect(current().map(({ textContent }) => textContent)).toEqual(["Summary"]);
  await page.click(screen.getByRole("link", { name: "CPU" }));
  expect(slots()).toEqual(["cpu", "cpu_total", "wait", "switches"]);
  expect(new URLSearchParams(window.location.search).get("tab")).toBe("cpu");
  await page.click(screen.getByRole("link", { name: "All charts" }));
  expect(slots()).toEqual([
    ...["times", "map", "cpu", "cpu_total", "wait", "switches", "disk", "events", "threads"],
  ]);
  window.history.back();
  await page.pass(50);
});

it("opens the first tab for a name that it does not know", async () => {
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=nonsense`);
  await page.run(1);
  expect(slots()).toEqual(["times", "map"]);
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
  await page.press("{ArrowDown}{ArrowDown}");
  expect(slots().slice(0, 3)).toEqual(["map", "cpu", "times"]);
  expect(document.activeElement).toBe(handle());
  screen.getByText(/^Where the time goes: place 3 of \d+$/);
  await page.press("{ArrowUp}");
  expect(slots().slice(0, 3)).toEqual(["map", "times", "cpu"]);
});

it("shows a link as it was passed on", async () => {
  await TestPage.open(`/?target=${TARGET.id}&tab=all&panels=disk*.map-`).then((page) =>
    page.run(1),
  );
  // Panels that the link does not name follow the one before them; the first stays first.
  expect(slots().slice(0, 2)).toEqual(["times", "disk"]);
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
