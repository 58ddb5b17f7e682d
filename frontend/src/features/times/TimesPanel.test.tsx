import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { TestPage } from "../../testing/TestPage";

const TITLE = "Where the time goes";

/** Shares of the existing parts, percent. */
function shares(page: TestPage): Record<string, number> {
  const rows = page.region(TITLE).getByRole("table").querySelectorAll<HTMLElement>("tr[data-part]");
  const available = [...rows].filter((row) => row.dataset.available === "true");
  return Object.fromEntries(
    available.map((row) => [
      row.dataset.part,
      Number.parseFloat(row.querySelector("td")?.textContent ?? ""),
    ]),
  );
}

it("cuts all thread time into shares that add up to the whole", async () => {
  const page = await TestPage.watching();
  const sum = Object.values(shares(page)).reduce((all, share) => all + share, 0);
  expect(sum).toBeGreaterThan(99.5);
  expect(sum).toBeLessThan(100.5);
  const chart = page.region(TITLE).getByRole("img");
  expect(chart.getAttribute("aria-label")).toMatch(/all threads: .*On CPU/i);
});

it("shows the role that is pressed, then the thread that is selected, then all again", async () => {
  const page = await TestPage.watching();
  const panel = page.region(TITLE);
  const bar = panel.getByRole("button", { name: /^burner/ });
  await page.click(bar);
  await page.settle();
  expect(page.one("[data-scope=role]").textContent).toContain("of burner");
  expect(bar.getAttribute("aria-pressed")).toBe("true");
  // The thread runs half of the time, and is runnable for a tenth.
  expect(shares(page)).toMatchObject({ cpu: 50, queue: 10 });

  await page.click(page.region("Threads").getByRole("button", { name: "sleeper-1" }));
  await page.settle();
  expect(page.one("[data-scope=thread]").textContent).toContain("of sleeper-1");
  expect(shares(page).cpu).toBe(0);
  await page.click(panel.getByRole("button", { name: "Show all" }));
  await page.settle();
  expect(page.one("[data-scope=process]").textContent).toContain("of all threads");
});

it("stands still while paused, and goes on after", async () => {
  const page = await TestPage.watching();
  const words = () => within(page.one("[data-panel=times]")).getByRole("table").textContent;
  await page.press(" ");
  screen.getByText("Paused. Sampling continues.");
  await page.settle();
  const frozen = words();
  await page.run(2);
  expect(words()).toBe(frozen);
  await page.press(" ");
  await page.settle();
  expect(words()).not.toBe(frozen);
});
