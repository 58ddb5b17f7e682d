/** Rules of accessibility that a program can check, on every page and in its states. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { ROOT } from "./fixtures/processes";
import { expect, test } from "./fixtures/test";

const AXE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe-core finds: each rule that is broken, with the first element that breaks it. */
async function violations(page: Page, without: readonly string[] = []): Promise<readonly string[]> {
  // As an expression, since the page's policy refuses scripts in its text.
  await page.evaluate(AXE);
  const options = {
    resultTypes: ["violations"],
    runOnly: TAGS,
    rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])),
  };
  const found: { violations: { id: string; nodes: { html: string }[] }[] } = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)})`,
  );
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

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
