/** A table of figures: what is drawn of many rows, and how keys move through them. */

import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { type SortedColumn, SortedTable } from "./SortedTable";

interface Row {
  readonly key: string;
  readonly size: number;
}

const COLUMNS: readonly SortedColumn<Row>[] = [
  { id: "name", label: "Name", text: true, value: ({ key }) => key, cell: ({ key }) => key },
  { id: "size", label: "Size", value: ({ size }) => size, cell: ({ size }) => size },
];

function show(count: number): void {
  const rows = Array.from({ length: count }, (_, n) => ({ key: `row ${n}`, size: n }));
  render(
    <SortedTable
      label="Sizes"
      columns={COLUMNS}
      rows={rows}
      keyOf={({ key }) => key}
      sortedBy="size"
      onPress={() => undefined}
    />,
  );
}

const drawn = () => [...document.querySelectorAll("tr[data-key]")] as HTMLElement[];
const places = () => [...document.querySelectorAll<HTMLElement>("[data-row]")];

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
