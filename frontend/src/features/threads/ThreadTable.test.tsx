import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";

const rowAt = (page: TestPage, place: number) => page.one(`[data-row="${place}"]`);

it("sorts by the field whose heading is pressed", async () => {
  const page = await TestPage.watching();
  expect(rowAt(page, 0).textContent).toBe("burner");
  expect(page.cell("burner", "rate:cpu_run_ns").textContent).toMatch(/^0\.50/);
  expect(page.cell("sleeper-1", "rate:cpu_run_ns").textContent).toMatch(/^0\b/);
  const heading = screen.getByRole("columnheader", { name: /^Disk written/ });
  await page.click(within(heading).getByRole("button"));
  await page.settle();
  expect(rowAt(page, 0).textContent).toBe("writer");
});

it("filters by a regular expression, and says when it is none", async () => {
  const page = await TestPage.watching();
  const filter = screen.getByLabelText("Filter threads");
  await page.fill(filter, "^worker-[1-3]$");
  await page.settle();
  screen.getByText("3 threads");
  expect(screen.queryByRole("button", { name: "burner" })).toBeNull();
  await page.fill(filter, "worker-[");
  await page.settle();
  expect(screen.getByRole("alert").textContent).toContain("Invalid regular expression");
  await page.fill(filter, "no-such-thread");
  await page.settle();
  screen.getByText("No matching threads.");
  await page.fill(filter, "");
  await page.settle();
  expect(page.row("burner").dataset.threadState).toBe("live");
});

it("groups threads by role, with their number", async () => {
  const page = await TestPage.watching();
  await page.click(page.region("Threads").getByLabelText("Roles"));
  await page.settle();
  expect(page.row("worker-#").textContent).toContain("×6");
  expect(page.row("sleeper-#").textContent).toContain("×4");
});

it("highlights the selected thread in table and charts", async () => {
  const page = await TestPage.watching();
  await page.click(page.region("Threads").getByRole("button", { name: "sleeper-2" }));
  await page.settle();
  expect(page.row("sleeper-2").dataset.selected).toBe("true");
  for (const chart of ["cpu", "cpu_total", "wait", "switches"]) {
    const legend = within(page.one(`[data-panel=${chart}]`));
    const entry = legend.getByRole("button", { name: /sleeper-2/ });
    expect(entry.getAttribute("aria-pressed")).toBe("true");
  }
  await page.click(screen.getByRole("button", { name: "Clear selection and pins" }));
  await page.settle();
  expect(page.row("sleeper-2").dataset.selected).toBe("false");
});

it("shows the columns that were chosen, explains them, and keeps them", async () => {
  const absent = [{ field: "irq_delay_ns", reason: "the kernel does not count it" }];
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`);
  page.backend.change({ targets: [{ ...TARGET, absent }] });
  await page.run(2);
  await page.click(screen.getByRole("button", { name: "Columns" }));
  const dialog = screen.getByRole("dialog", { name: "Thread table columns" });
  expect(dialog.textContent).toMatch(
    /Interrupt delay.*Not available: the kernel does not count it/s,
  );
  await page.click(within(dialog).getByLabelText("Major page faults, total"));
  await page.click(within(dialog).getByLabelText("Interrupt delay, total"));
  await page.click(within(dialog).getByRole("button", { name: "Close" }));
  await page.settle();
  expect(page.cell("burner", "total:major_faults").textContent).toBe("0");
  // Absent is not zero.
  const cell = page.cell("burner", "total:irq_delay_ns");
  expect(cell.textContent).toBe("–");
  expect(cell.title).toContain("the kernel does not count it");

  const later = await TestPage.reopened(page);
  expect(later.cell("burner", "total:major_faults").textContent).toBe("0");
});

it("arrows move among the threads, Enter selects, p pins, End goes to the last", async () => {
  const page = await TestPage.watching();
  await page.press("/");
  expect(document.activeElement).toBe(screen.getByLabelText("Filter threads"));
  await page.press("{ArrowDown}");
  expect(document.activeElement).toBe(rowAt(page, 0));
  await page.press("{ArrowDown}{ArrowDown}");
  expect(document.activeElement).toBe(rowAt(page, 2));
  const name = rowAt(page, 2).textContent ?? "";
  await page.press("{Enter}");
  await page.settle();
  expect(page.row(name).dataset.selected).toBe("true");
  await page.press("p");
  await page.settle();
  const pin = screen.getByRole("button", { name: `Pin ${name}` });
  expect(pin.getAttribute("aria-pressed")).toBe("true");
  await page.press("{End}");
  expect(document.activeElement).toBe(rowAt(page, 12));
});
