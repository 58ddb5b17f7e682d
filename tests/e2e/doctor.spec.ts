import { expect, test } from "./fixtures/test";

test("shows what every check of this machine found, copies a fix, and checks again", async ({
  signedIn,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const first = signedIn.waitForResponse(/\/api\/v1\/doctor/);
  await signedIn.getByRole("link", { name: "Doctor" }).click();
  const report = (await (await first).json()) as Report;
  expect(report.checks.length).toBeGreaterThan(4);
  for (const { name, title, finding, fix } of report.checks) {
    const card = signedIn.locator(`[data-check="${name}"]`);
    await expect(card.getByRole("heading")).toHaveText(title);
    await expect(card).toContainText(finding);
    const copy = card.getByRole("button", { name: /^Copy/ });
    await expect(copy).toHaveCount(fix === "" ? 0 : 1);
    if (fix !== "") {
      await copy.click();
      // The browser writes the clipboard after the press.
      await expect.poll(() => signedIn.evaluate(() => navigator.clipboard.readText())).toBe(fix);
    }
  }
  const again = signedIn.waitForResponse(/\/api\/v1\/doctor/);
  await signedIn.getByRole("button", { name: "Check again" }).click();
  expect((await again).status()).toBe(200);
  await expect(signedIn.getByRole("button", { name: "Check again" })).toBeEnabled();
});

interface Report {
  readonly checks: readonly {
    readonly name: string;
    readonly title: string;
    readonly finding: string;
    readonly fix: string;
  }[];
}
