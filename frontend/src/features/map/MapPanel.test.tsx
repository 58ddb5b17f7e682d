import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { TestPage } from "../../testing/TestPage";

const map = (page: TestPage) => page.one("[data-map]");
const said = (page: TestPage) => page.one("[data-map-said]").textContent ?? "";

it("shows every thread by role, and says so in words", async () => {
  const page = await TestPage.watching();
  expect(map(page).dataset.rows).toBe("13");
  expect(Number(map(page).dataset.columns)).toBeGreaterThanOrEqual(20);
  const words = map(page).getAttribute("aria-label");
  expect(words).toMatch(/On-CPU time|CPU time/);
  expect(words).toMatch(/13 threads.*worker-# 6/);
  const panel = page.region("Thread map");
  panel.getByText(/13 threads/);
  panel.getByRole("img", { name: /^Colours, logarithmic, from/ });
});

it("is read by arrow keys, a thread and a moment at a time; Enter selects the thread", async () => {
  const page = await TestPage.watching();
  await page.press(" ");
  map(page).focus();
  await page.press("{ArrowDown}");
  expect(said(page)).toMatch(/^steady_work \(1\), \d\d:\d\d:\d\d\.\d{3}: /);
  const first = said(page);
  await page.press("{ArrowLeft}");
  expect(said(page)).not.toBe(first);
  expect(said(page)).toMatch(/^steady_work \(1\)/);
  await page.press("{ArrowDown}");
  expect(said(page)).not.toContain("steady_work");
  const name = /^(\S+) \(/.exec(said(page))?.[1] ?? "";
  await page.press("{Enter}");
  await page.settle();
  expect(page.row(name).dataset.selected).toBe("true");
});

it("shows any field as colour, and since when one is kept that was not before", async () => {
  const page = await TestPage.watching();
  const field = screen.getByRole("combobox", { name: "Colour" });
  await page.select(field, "Disk written");
  await page.settle();
  expect(map(page).dataset.map).toBe("disk_write_bytes");
  const panel = within(page.one("[data-panel=map]"));
  panel.getByText(/bytes per second/);
  await page.select(field, "Major page faults");
  await page.run(1);
  panel.getByText(/recorded since you chose it, \d\d:\d\d:\d\d/);
});
