/** Rules of accessibility that a program can check, on every page and in its states. */

import { violations } from "./fixtures/axe";
import { expect, test } from "./fixtures/test";

test("pages break no rule, in either theme", async ({ signedIn, site }) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  for (const colorScheme of ["dark", "light"] as const) {
    await signedIn.emulateMedia({ colorScheme });
    await signedIn.goto(site.url);
    await expect(signedIn.locator("[data-interest]").first()).toBeVisible();
    expect(await violations(signedIn), `start, ${colorScheme}`).toEqual([]);
    await signedIn.keyboard.press("?");
    await expect(signedIn.getByRole("dialog")).toBeVisible();
    expect(await violations(signedIn), `keys, ${colorScheme}`).toEqual([]);
    for (const path of ["runs", "compare", "experiments", "traces", "doctor", "nowhere"]) {
      await signedIn.goto(`${site.url}/${path}`);
      await expect(signedIn.getByRole("heading", { level: 1 })).toBeVisible();
      expect(await violations(signedIn), `${path}, ${colorScheme}`).toEqual([]);
    }
  }
});
