/** The table of figures: which rows are drawn, and keyboard navigation between rows. */

import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { type SortedColumn, SortedTable } from "./SortedTable";
import styles from "./SortedTable.module.css";

interface Row {
  readonly key: string;
  readonly size: number;
}

const COLUMNS: readonly SortedColumn<Row>[] = [
  { id: "name", label: "Name", text: true, value: ({ key }) => key, cell: ({ key }) => key },
  { id: "size", label: "Size", value: ({ size }) => size, cell: ({ size }) => size },
];

const press = () => undefined;

function show(count: number, columns = COLUMNS): void {
  const rows = Array.from({ length: count }, (_, n) => ({ key: `row ${n}`, size: n }));
  render(
    <SortedTable
      label="Sizes"
      columns={columns}
      rows={rows}
      keyOf={({ key }) => key}
      sortedBy="size"
      onPress={press}
    />,
  );
}

const drawn = () => [...document.querySelectorAll("tr[data-key]")] as HTMLElement[];
const places = () => [...document.querySelectorAll<HTMLElement>("[data-row]")];

it("leaves columns of wide screens out of the least width of narrow ones", () => {
  const [name, size] = COLUMNS as [SortedColumn<Row>, SortedColumn<Row>];
  show(3, [name, { ...size, width: 4 }, { ...size, id: "note", width: 20, wideOnly: true }]);
  const { style } = screen.getByRole("table");
  expect(style.getPropertyValue("--wide")).toBe("33rem");
  expect(style.getPropertyValue("--narrow")).toBe("13rem");
  const hidden = [...document.querySelectorAll(`.${styles.wideOnly}`)];
  expect(hidden.map(({ tagName }) => tagName)).toEqual(["COL", "TH", "TD", "TD", "TD"]);
});

it("draws all rows of a short table", () => {
  show(60);
  expect(drawn()).toHaveLength(60);
  expect(screen.getByRole("table").hasAttribute("aria-rowcount")).toBe(false);
});

it("draws the rows in sight of a long one, and the keys reach the others", async () => {
  show(400);
  expect(drawn().length).toBeLessThan(80);
  expect(drawn()[0]?.dataset.key).toBe("row 399");
  expect(screen.getByRole("table").getAttribute("aria-rowcount")).toBe("401");
  const scrolled = screen.getByRole("table").parentElement as HTMLElement;
  Object.defineProperty(scrolled, "scrollHeight", { value: 401 * 28 });
  const [first] = places();
  first?.focus();
  fireEvent.keyDown(first as HTMLElement, { key: "End" });
  expect(scrolled.scrollTop).toBeGreaterThan(300 * 28);
  fireEvent.scroll(scrolled);
  await vi.advanceTimersByTimeAsync(500);
  expect(drawn().at(-1)?.dataset.key).toBe("row 0");
  expect(drawn().at(-1)?.getAttribute("aria-rowindex")).toBe("401");
  expect(document.activeElement?.getAttribute("data-row")).toBe("399");
});

it("draws a row once while the table scrolls", async () => {
  const times = new Map<string, number>();
  const counting = COLUMNS.map((column) => ({
    ...column,
    cell: (row: Row) => {
      if (column.id === "name") times.set(row.key, (times.get(row.key) ?? 0) + 1);
      return column.cell(row);
    },
  }));
  show(400, counting);
  const before = drawn().map((row) => row.dataset.key ?? "");
  const scrolled = screen.getByRole("table").parentElement as HTMLElement;
  scrolled.scrollTop = 28 * 12;
  fireEvent.scroll(scrolled);
  await vi.advanceTimersByTimeAsync(500);
  const after = drawn().map((row) => row.dataset.key ?? "");
  const stayed = after.filter((key) => before.includes(key));
  expect(after.length).toBeGreaterThan(stayed.length);
  expect(stayed.length).toBeGreaterThan(5);
  // Except the row that Tab reaches now.
  const again = stayed.filter((key) => times.get(key) !== 1);
  expect(again.length).toBeLessThanOrEqual(1);
});
