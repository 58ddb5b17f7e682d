import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { TestPage } from "../testing/TestPage";
// Loads on demand: it is to be there at once.
import "../features/doctor/DoctorPage";

it("goes from page to page by the keyboard, and explains the keys", async () => {
  const page = await TestPage.open("/");
  screen.getByRole("heading", { name: "Attach to a process" });
  await page.press("gd");
  await screen.findByRole("heading", { name: "Doctor" });
  await page.press("gl");
  screen.getByRole("heading", { name: "Attach to a process" });
  await page.press("?");
  const help = screen.getByRole("dialog", { name: "Keyboard shortcuts" });
  expect(help.textContent).toContain("Go to Doctor");
  await page.press("{Escape}");
  expect(screen.queryByRole("dialog")).toBeNull();
});

it("says that an address names no page, and leads on", async () => {
  await TestPage.open("/nothing/here");
  screen.getByText("Page not found");
  const links = within(screen.getByRole("main")).getAllByRole("link");
  expect(links.map((link) => link.getAttribute("href"))).toEqual([
    "/",
    "/hosts",
    "/runs",
    "/compare",
    "/experiments",
    "/traces",
    "/doctor",
  ]);
});
