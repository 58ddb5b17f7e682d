import { expect, test } from "./fixtures/test";

test("goes from page to page, and helps", async ({ signedIn }) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  await signedIn.keyboard.press("g");
  await signedIn.keyboard.press("d");
  await expect(signedIn.getByRole("heading", { name: "Doctor" })).toBeVisible();
  await signedIn.keyboard.press("g");
  await signedIn.keyboard.press("l");
  await expect(signedIn.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await signedIn.keyboard.press("?");
  const help = signedIn.getByRole("dialog", { name: "Keyboard" });
  await expect(help).toContainText("Go to Doctor");
  await signedIn.keyboard.press("Escape");
  await expect(help).toBeHidden();
});

test("the first Tab reaches the skip link", async ({ signedIn }) => {
  await signedIn.keyboard.press("Tab");
  const skip = signedIn.getByRole("link", { name: "Skip to content" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
});

test("space pauses and continues, but not while typing", async ({ watching }) => {
  const { page } = watching;
  const paused = page.getByText("Paused. Sampling continues.");
  await page.keyboard.press("Space");
  await expect(paused).toBeVisible();
  await page.keyboard.press("Space");
  await expect(paused).toBeHidden();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Filter threads")).toBeFocused();
  await page.keyboard.press("Space");
  await expect(page.getByLabel("Filter threads")).toHaveValue(" ");
  await expect(paused).toBeHidden();
});

test("arrows move among the threads, Enter selects, p pins", async ({ watching }) => {
  const { page } = watching;
  await page.keyboard.press("/");
  await page.keyboard.press("ArrowDown");
  await expect(watching.rowAt(0)).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(watching.rowAt(2)).toBeFocused();
  const name = (await watching.rowAt(2).textContent()) ?? "";
  await page.keyboard.press("Enter");
  await expect(watching.row(name)).toHaveAttribute("data-selected", "true");
  await page.keyboard.press("p");
  await expect(page.getByRole("button", { name: `Pin ${name}`, exact: true })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await page.keyboard.press("End");
  await expect(watching.rowAt(12)).toBeFocused();
});
