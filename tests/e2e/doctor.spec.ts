import { expect, test } from "./fixtures/test";

test("shows each check in words, and how to mend", async ({ signedIn, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await signedIn.getByRole("link", { name: "Doctor" }).click();
  const checks = signedIn.locator("[data-check]");
  await expect(checks.first()).toBeVisible();
  expect(await checks.count()).toBeGreaterThan(4);
  for (const check of await checks.all()) {
    await expect(check).toContainText(/In order|Limited|Failed|Unknown/);
    await expect(check.getByRole("heading")).toHaveText(/\w/);
  }
  const mendable = checks.filter({ has: signedIn.getByRole("button", { name: /^Copy/ }) }).first();
  if ((await mendable.count()) > 0) {
    const command = (await mendable.locator("code").textContent()) ?? "";
    await mendable.getByRole("button", { name: /^Copy/ }).click();
    expect(await signedIn.evaluate(() => navigator.clipboard.readText())).toBe(command);
  }
});

test("examines again on request", async ({ signedIn }) => {
  await signedIn.getByRole("link", { name: "Doctor" }).click();
  await expect(signedIn.locator("[data-check]").first()).toBeVisible();
  const answer = signedIn.waitForResponse(/\/api\/v1\/doctor/);
  await signedIn.getByRole("button", { name: "Check again" }).click();
  expect((await answer).status()).toBe(200);
  await expect(signedIn.getByRole("button", { name: "Check again" })).toBeEnabled();
});
