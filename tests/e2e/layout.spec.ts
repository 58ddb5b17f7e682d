/** Measures of the page that only a real browser knows. */

import { expect, test } from "./fixtures/test";

test("rows of tiles are equally full at any width, with the Steer drawer open and closed", async ({
  watching,
}) => {
  const { page } = watching;
  const tiles = page.getByRole("list", { name: "The process in numbers" });
  for (const drawer of ["closed", "open"]) {
    for (const width of [1440, 1280, 1100, 800, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const ends = await tiles.evaluate((list) => {
        const rows = new Map<number, number>();
        for (const tile of list.children) {
          const { top, right } = tile.getBoundingClientRect();
          rows.set(top, Math.max(right, rows.get(top) ?? 0));
        }
        const edge = list.getBoundingClientRect().right;
        return [...rows.values()].map((right) => Math.round(edge - right));
      });
      expect(ends, `${width} px, drawer ${drawer}`).toEqual(ends.map(() => expect.closeTo(1, 0)));
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("button", { name: "Steer", exact: true }).click();
  }
});

test("the usual columns of the thread table, network included, fit into 1,440 pixels", async ({
  watching,
}) => {
  const { page } = watching;
  await page.setViewportSize({ width: 1440, height: 900 });
  const table = page.getByRole("region", { name: "Threads" }).getByRole("table");
  await expect(table.getByRole("columnheader", { name: /^Network sent/ })).toBeVisible();
  const hidden = await table.evaluate((element) => {
    const frame = element.parentElement;
    return frame === null ? Number.NaN : frame.scrollWidth - frame.clientWidth;
  });
  expect(hidden).toBe(0);
  const cut = await table
    .locator("thead button > *")
    .evaluateAll((labels) =>
      labels
        .filter(
          (each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight,
        )
        .map((each) => each.textContent),
    );
  expect(cut).toEqual([]);
});
