import { expect, test } from "./fixtures/test";

test("the keyboard reaches the skip link, every page, and the help", async ({ signedIn }) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  await signedIn.keyboard.press("Tab");
  const skip = signedIn.getByRole("link", { name: "Skip to content" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  const pages = { d: "Doctor", r: "Runs", c: "Compare", l: "Attach to a process" };
  for (const [key, heading] of Object.entries(pages)) {
    await signedIn.keyboard.press("g");
    await signedIn.keyboard.press(key);
    await expect(signedIn.getByRole("heading", { name: heading, level: 1 })).toBeVisible();
  }
  await signedIn.keyboard.press("?");
  const help = signedIn.getByRole("dialog", { name: "Keyboard" });
  await expect(help).toContainText("Go to Doctor");
  await signedIn.keyboard.press("Escape");
  await expect(help).toBeHidden();
});
