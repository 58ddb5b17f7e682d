import { chromium } from "playwright-core";
const url = process.argv[2];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
for (const [w, h] of [[1440, 900], [390, 844]]) for (const scheme of ["light", "dark"]) {
  const context = await browser.newContext({ viewport: { width: w, height: h }, colorScheme: scheme });
  const page = await context.newPage();
  await page.goto(url);
  const panel = page.locator("[data-panel=goroutines]");
  await panel.waitFor({ timeout: 20000 });
  await panel.scrollIntoViewIfNeeded();
  const table = panel.locator("table");
  await table.first().waitFor({ timeout: 12000 }).catch(() => {});
  await page.waitForTimeout(3000);
  if (await table.count()) {
    await panel.locator("tbody tr").first().click();
    await panel.locator("summary").last().click();
    await page.waitForTimeout(1500);
  }
  await panel.screenshot({ path: `/root/w/go-waits.state/pics/panel-${w}-${scheme}${process.env.TAG ?? ""}.png` });
  await context.close();
}
await browser.close();
