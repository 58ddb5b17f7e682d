import { expect, test } from "./fixtures/test";

test("the printed address signs in, and the token leaves the address bar", async ({
  page,
  site,
}) => {
  await page.goto(site.urlWithToken);
  await expect(page).toHaveURL(`${site.url}/`);
  await expect(page.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await expect(page.locator("[data-connection=open]")).toBeVisible();
});

test("without a session the page asks for the token", async ({ page, site }) => {
  await page.goto(site.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await expect(page.getByText(`${site.url}/#token=…`)).toBeVisible();

  const field = page.getByLabel("Address or token");
  await field.fill("   ");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("No token found in this text");

  await field.fill("not-the-token-at-all");
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("alert")).toContainText("this is not the token of this backend");

  await field.fill(site.urlWithToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await expect(page.locator("[data-connection=open]")).toBeVisible();
});
